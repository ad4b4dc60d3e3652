import { describe, expect, test } from 'vitest';
import { sampleSource } from '../../report/testing/sample-batch.ts';
import { evaluateThreshold, parseThreshold } from '../../statistics/thresholds.ts';
import { parseComparison, type TeamsComparison } from '../comparison-file.ts';
import { buildTables, formatComparison, formatComparisonMarkdown } from '../comparison-table.ts';
import { formatJunit, formatSummary } from '../conditions/ci-reports.ts';
import { checkComparable, createThresholdFigures, judgeChanges } from '../conditions/conditions.ts';
import { compareTeams } from './compare-teams.ts';

/** A comparison of teams that have the first so many of 40 questions right. */
function compare(rights: Readonly<Record<string, number>>, repeat = 1): TeamsComparison {
  return compareTeams(
    sampleSource({
      teams: Object.keys(rights),
      questions: 40,
      repeat,
      result: ({ team, index }) =>
        index < (rights[team] ?? 0) ? {} : { correct: false, correct_lenient: false },
    }),
  );
}

const now = compare({ single: 20, react: 32, panel: 20, pipeline: 2 });

describe('a comparison of teams', () => {
  test('is read back from its file as it was', () => {
    expect(parseComparison(JSON.stringify(now), 'here', 'teams')).toEqual(now);
    expect(() => parseComparison(JSON.stringify(now), 'here', 'stacks')).toThrow(
      'expected a comparison of stacks, got one of teams',
    );
  });

  test('has a sentence with every verdict, and one pair in words of its own', () => {
    expect(now.sentence).toMatch(
      /^Right answers against single: react is better \(\+30\.0 points, \+\d.* to \+\d.*\); pipeline is worse \(−45\.0 points, .*\); cannot tell for panel\.$/,
    );
    expect(compare({ single: 20, react: 32 }).sentence).toMatch(
      /^react is better than single: \+30\.0 points of right answers \(95 % interval \+.* to \+.*\)\.$/,
    );
    expect(compare({ single: 20, react: 21 }).sentence).toMatch(
      /^Cannot tell whether react is better or worse than single: \+2\.5 points .*; \d+\.\d points would have been shown\. More questions/,
    );
    expect(compare({ single: 20 }).sentence).toBeNull();
  });

  test('is printed, written as Markdown and as CSV from one table', () => {
    expect(formatComparison(now)).toMatch(/react +32 of 40 .* better/);
    expect(formatComparison(now)).toMatch(/single was asked once, so it is not compared\s+with itself/);
    expect(formatComparisonMarkdown(now)).toMatch(/\| pipeline \| 2 of 40 \| .* \| worse \|/);
    expect(buildTables(now).csv.split('\n')[0]).toBe(
      'team,right,accuracy,lenient,difference,p,detects,verdict',
    );
    expect(formatComparison(compare({ single: 20, react: 32 }, 2))).toMatch(
      /single against\s+itself, second\s+attempts against first: 0\.0 points/,
    );
  });
});

describe('conditions on teams', () => {
  const judge = (text: string, saved?: TeamsComparison) =>
    evaluateThreshold(parseThreshold(text, undefined, 'teams'), createThresholdFigures(now, saved));

  test('are about right answers: a percentage, or a multiple on the same questions', () => {
    expect(judge('react.right < 1x single').outcome).toBe('passed');
    expect(judge('pipeline.right < 1x single')).toMatchObject({
      outcome: 'failed',
      found: expect.stringMatching(/^0\.1 times single \(95 % interval 0\.\d+–0\.\d+\) against 1$/),
    });
    expect(judge('react.right < 1.5x single').outcome).toBe('cannot tell');
    expect(judge('pipeline.right < 30')).toMatchObject({
      outcome: 'failed',
      found: expect.stringMatching(/^5 % \(95 % interval .*\) against 30$/),
    });
    expect(() => judge('nobody.right < 1x single')).toThrow('expected one of the arms single, react');
    expect(formatJunit(now, [judge('react.right < 1.5x single')])).toContain(
      '<testsuite name="gaia-mesh gaia" tests="1" failures="0" errors="0" skipped="1">',
    );
  });

  test('may be about a saved comparison of the same questions', () => {
    const saved = compare({ single: 20, react: 12 });
    expect(judge('react.right < 1x saved', saved).outcome).toBe('passed');
    expect(judge('single.right < 1x saved', saved).outcome).toBe('passed');
    expect(judge('react.right > 1.2x saved', saved).outcome).toBe('failed');
    const changes = judgeChanges(saved, now);
    expect(changes).toMatchObject([
      { name: 'single', before: 20, now: 20, judged: { verdict: 'cannot tell' } },
      { name: 'react', before: 12, now: 32, judged: { difference: 0.5, verdict: 'different' } },
    ]);
    const summary = formatSummary(now, { conditions: [], changes });
    expect(summary).toContain('### Teams on the same questions: `single`, `react`');
    expect(summary).toMatch(
      /\| arm \| right then \| right now \| difference .*\n.*\n.*\n\| react \| 12 \| 32 \| \+50\.0 \| .* \| better \|/,
    );
  });

  test('refuse one of other questions, and take one of another machine', () => {
    const questions = { ...now.questions, asked: 41 };
    expect(() => checkComparable({ ...now, questions }, now, 'base.json')).toThrow(
      /the questions \(then 41, .*now 40/,
    );
    const environment = { gaia_mesh: '0.0.1', machine: 'another' };
    expect(() => checkComparable({ ...now, environment }, now, 'base.json')).not.toThrow();
  });
});
