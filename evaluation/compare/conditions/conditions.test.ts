import { describe, expect, test } from 'vitest';
import { evaluateThreshold, parseThreshold } from '../../statistics/thresholds.ts';
import type { AdaptersComparison } from '../comparison-file.ts';
import { sampleFile } from '../testing/sample-comparison.ts';
import { formatJunit, formatSummary } from './ci-reports.ts';

import { checkComparable, createThresholdFigures, judgeChanges } from './conditions.ts';

const now = await sampleFile(['json', 'msgpack', 'anp'], 'pipeline');

/** The same, every time of it so many times as long. */
function slowed(file: AdaptersComparison, times: number): AdaptersComparison {
  const arms = file.arms.map((row) => {
    const time = row.samples_us.time.map((own) => own.map((us) => us * times));
    return { ...row, samples_us: { ...row.samples_us, time } };
  });
  return { ...file, arms };
}

const outcomeOf = (text: string, saved?: AdaptersComparison) =>
  evaluateThreshold(parseThreshold(text), createThresholdFigures(now, saved));

const changesOf = (saved: AdaptersComparison, later: AdaptersComparison) => judgeChanges(saved, later);

describe('conditions', () => {
  test('are about the samples of the two arms that they name, whichever the baseline is', () => {
    expect(outcomeOf('anp.time > 1.2x msgpack').outcome).toBe('failed');
    expect(outcomeOf('anp.time > 1.45x msgpack').outcome).toBe('cannot tell');
    expect(outcomeOf('msgpack.time > 1x anp').outcome).toBe('passed');
    expect(outcomeOf('json.time > 5000')).toMatchObject({ outcome: 'failed' });
    expect(() => outcomeOf('anp.cpu > 1x json')).toThrow('no figure for cpu');
  });

  test('on what a process has only once take enough processes', () => {
    expect(outcomeOf('anp.first > 0.5x json').outcome).toBe('cannot tell');
  });

  test('may be about the comparison that was saved', () => {
    expect(outcomeOf('json.time > 1.1x saved', slowed(now, 0.5)).outcome).toBe('failed');
    expect(outcomeOf('json.time > 1.1x saved', now).outcome).toBe('passed');
    expect(outcomeOf('json.bytes > 1x saved', now).outcome).toBe('passed');
  });
});

describe('a condition beside a null test that failed', () => {
  const { time } = now.null_test;
  if (time === null) throw new Error('the sample has a null test');
  const failed = {
    ...now,
    null_test: { ...now.null_test, time: { ...time, ratio: 1.137, low: 1.02, high: 1.27 } },
  };
  const found = (text: string) =>
    evaluateThreshold(parseThreshold(text), createThresholdFigures(failed, undefined));
  const slower = (times: number) => {
    const [json, msgpack, ...rest] = failed.arms;
    if (json === undefined || msgpack === undefined) throw new Error('the sample has adapters');
    const own = json.samples_us.time.map((rounds, at) => rounds.map((us) => us * times * (1 + at / 1000)));
    const slow = { ...msgpack, samples_us: { ...msgpack.samples_us, time: own } };
    const file = { ...failed, arms: [json, slow, ...rest] };
    const figures = createThresholdFigures(file, undefined);
    return (text: string) => evaluateThreshold(parseThreshold(text), figures);
  };

  test('cannot be told where difference and bound are within the interval of the baseline against itself', () => {
    const outcome = slower(1.17);
    expect(outcome('msgpack.time > 1.05x json').outcome).toBe('cannot tell');
    expect(outcome('msgpack.time > 1.25x json').outcome).toBe('cannot tell');
    expect(outcome('msgpack.time < 1.25x json').outcome).toBe('cannot tell');
    expect(formatJunit({ kind: 'adapters' }, [outcome('msgpack.time > 1.05x json')])).toContain(
      'skipped="1"',
    );
  });

  test('is decided by a larger difference or bound, and says what the null test was', () => {
    expect(slower(1.17)('msgpack.time > 1.5x json').outcome).toBe('passed');
    expect(slower(1.6)('msgpack.time > 1.05x json')).toMatchObject({
      outcome: 'failed',
      found: expect.stringContaining('the baseline against itself 1.02–1.27'),
    });
    expect(found('json.time > 5000').outcome).toBe('failed');
    expect(found('json.bytes > 1x anp').outcome).toBe('passed');
  });

  test('is one about the saved comparison, too', () => {
    const outcome = (times: number) => judgeChanges(slowed(failed, 1 / times), failed)[0]?.judged?.verdict;
    expect([outcome(1.2), outcome(1.4)]).toEqual(['cannot tell', 'different']);
  });
});

describe('a comparison that was saved', () => {
  test('is set against this one, adapter by adapter', () => {
    const changes = changesOf(slowed(now, 0.5), now);
    expect(
      changes.map(({ name, judged }) => [name, judged?.verdict, judged && 'ratio' in judged && judged.ratio]),
    ).toEqual([
      ['json', 'different', expect.closeTo(2, 9)],
      ['msgpack', 'different', expect.closeTo(2, 9)],
      ['anp', 'different', expect.closeTo(2, 9)],
    ]);
    expect(changesOf(now, now)[0]?.judged).toMatchObject({ verdict: 'equivalent', ratio: 1 });
  });

  test('of fewer invocations is compared by as many', () => {
    const [row] = now.arms;
    if (row === undefined) throw new Error('the sample has adapters');
    const time = row.samples_us.time.slice(0, 3);
    const few = { ...now, arms: [{ ...row, samples_us: { ...row.samples_us, time } }] };
    expect(changesOf(few, now)).toMatchObject([
      { name: 'json', judged: { invocations: 3, verdict: 'cannot tell' } },
    ]);
  });

  test('of another machine or recording is refused, with what is different', () => {
    const elsewhere = { ...now, environment: { ...now.environment, cpus: 64 } };
    const refused = (message: RegExp) =>
      expect.objectContaining({ code: 'config', message: expect.stringMatching(message) });
    expect(() => checkComparable(elsewhere, { environment: now.environment }, 'base.json')).toThrow(
      refused(/base\.json is not comparable.*cores \(then 64, now 2\)/),
    );
    expect(() => checkComparable({ ...now, run_id: 'other' }, now, 'base.json')).toThrow(
      refused(/the recording \(then other/),
    );
    expect(() => checkComparable(now, now, 'base.json')).not.toThrow();
  });
});

describe('reports for CI', () => {
  const conditions = ['anp.time > 1.2x msgpack', 'anp.time > 1.45x msgpack', 'json.bytes > 1x anp'].map(
    (text) => outcomeOf(text),
  );

  test('as JUnit: a condition that cannot be told is skipped', () => {
    const xml = formatJunit({ kind: 'adapters' }, conditions);
    expect(xml).toContain('<testsuite name="gaia-mesh compare" tests="3"');
    expect(xml).toContain('<testsuites tests="3" failures="1">');
    expect(xml).toContain('skipped="1"');
    expect(xml).toMatch(
      /name="anp.time &gt; 1.45x msgpack">\n +<skipped message="cannot tell: 1\.\d+ times msgpack/,
    );
  });

  test('as Markdown: the answer, what failed, what changed, and how to repeat it', () => {
    const changes = changesOf(slowed(now, 0.5), now);
    const text = formatSummary(
      { ...now, command: 'npm run compare -- --adapters json,anp' },
      { conditions, changes },
    );
    expect(text).toContain('| anp.time > 1.2x msgpack | ❌ failed |');
    expect(text).toContain('| anp.time > 1.45x msgpack | ❔ cannot tell |');
    expect(text).toContain('| json.bytes > 1x anp | ✅ passed |');
    expect(text).toMatch(
      /Compared with the saved baseline:\n\n\| arm.*\n.*\n\| json \|.*2\.00 \|.*slower \|/,
    );
    expect(text).toContain('To repeat it: `npm run compare -- --adapters json,anp`');
  });
});
