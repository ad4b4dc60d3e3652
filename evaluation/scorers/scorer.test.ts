import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTaskScorer, findScorer, scorerNames } from './scorer.ts';
import { anyText } from './testing/any-text.ts';

/** The longest answer that scores. */
const MOST_CHARACTERS = 1024 * 1024;

const highest: Record<string, number> = { bleu: 100 };

it('names the scorers, and says so when asked for another (MP-65)', () => {
  expect(scorerNames).toEqual(['exact_rouge', 'squad', 'bleu', 'gaia']);
  expect(() => findScorer('rouge')).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: 'unknown scorer "rouge": expected exact_rouge, squad, bleu, gaia',
    }),
  );
});

it('takes every measure from the truth where it is best', () => {
  expect(findScorer('exact_rouge').score('Red Fort', ['fort', 'Red Fort '])).toEqual({
    exact_match: 1,
    rouge_l: 1,
    quality_score: 1,
  });
  expect(findScorer('exact_rouge').score('red fort', ['Delhi', 'Red Fort', 'fort'])).toEqual({
    exact_match: 0,
    rouge_l: 1,
    quality_score: 0.5,
  });
  expect(findScorer('exact_rouge').score('Київ', ['Kyiv', 'Київ'])).toEqual({
    exact_match: 1,
    rouge_l: 0,
    quality_score: 0.5,
  });
  // Exact against the second (both are empty once normalised), some words of none.
  expect(findScorer('squad').score('the', ['cat', 'a'])).toEqual({ normalized_em: 1, f1: 0 });
  expect(findScorer('squad').score('The cat', ['dog', 'cat!'])).toEqual({ normalized_em: 1, f1: 1 });
  expect(findScorer('bleu').score('New York', ['Bergen', 'New York'])).toEqual({ bleu: 100 });
  expect(findScorer('gaia').score('17 %', ['18', '17'])).toEqual({ correct: 1 });
});

it('scores 0 without an answer, but to GAIA that is the answer None', () => {
  for (const name of scorerNames) {
    const { measures, score } = findScorer(name);
    expect(score(null, ['Oslo', ''])).toEqual(Object.fromEntries(measures.map((measure) => [measure, 0])));
  }
  expect(findScorer('gaia').score(null, ['none'])).toEqual({ correct: 1 });
  expect(findScorer('squad').score(null, ['None'])).toEqual({ normalized_em: 0, f1: 0 });
});

describe.each(scorerNames)('%s', (name) => {
  const { measures, score } = findScorer(name);
  const text = fc.oneof(
    anyText,
    fc.constantFrom('the', '17', '1,0', 'Red Fort', 'red fort', 'Київ', '\ud800', '\0', 'inf', ''),
  );
  const truths = fc.tuple(text, text, text);

  it('gives each of its measures, within its scale', () => {
    fc.assert(
      fc.property(fc.option(text), truths, (answer, all) => {
        const scores = score(answer, all);
        expect(Object.keys(scores)).toEqual(measures);
        for (const [measure, value] of Object.entries(scores)) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(highest[measure] ?? 1);
        }
      }),
    );
  });

  it('is the best of the truths taken one by one, in whatever order', () => {
    fc.assert(
      fc.property(fc.option(text), truths, (answer, [a, b, c]) => {
        const together = score(answer, [a, b, c]);
        for (const measure of measures) {
          const alone = [a, b, c].map((truth) => score(answer, [truth])[measure] ?? -1);
          expect(together[measure]).toBe(Math.max(...alone));
        }
        expect(score(answer, [c, a, b])).toEqual(together);
      }),
    );
  });

  it('scores an answer at the length bound in bounded time', () => {
    const atBound = '1'.padEnd(MOST_CHARACTERS - 1, ' .,\u3000\0').concat(' ');
    const startMs = cpuMs();
    score(atBound, [atBound]);
    expect(cpuMs() - startMs).toBeLessThan(30_000);
  }, 60_000);

  it('scores an answer up to the length bound, and gives nothing for one past it', () => {
    const padded = (length: number) => score('Oslo'.padEnd(length, ' '), ['Oslo']);
    expect(Object.values(padded(MOST_CHARACTERS))).toEqual(measures.map((measure) => highest[measure] ?? 1));
    expect(Object.values(padded(MOST_CHARACTERS + 1))).toEqual(measures.map(() => 0));
  });
});

describe('the scorer of a task', () => {
  const ALWAYS = { exact_match: 1, rouge_l: 1, quality_score: 1, normalized_em: 1, f1: 1 };

  it.each([
    ['bleu', { bleu: 100 }],
    ['gaia', { correct: 1 }],
    ['squad', {}],
    ['exact_rouge', {}],
  ])('gives the measures that every result has, and those of %s', (own, more) => {
    const score = createTaskScorer(own);
    expect(score({ truths: ['Bergen', 'Oslo'] }, 'Oslo')).toStrictEqual({ ...ALWAYS, ...more });
    const unknown = score({ truths: [] }, 'Oslo');
    expect(unknown).toStrictEqual(
      Object.fromEntries(Object.keys({ ...ALWAYS, ...more }).map((measure) => [measure, null])),
    );
  });

  it('is 0 for a missing answer, and refused for a scorer that there is not', () => {
    expect(createTaskScorer('bleu')({ truths: ['Oslo'] }, null)).toStrictEqual({
      ...Object.fromEntries(Object.keys(ALWAYS).map((measure) => [measure, 0])),
      bleu: 0,
    });
    expect(() => createTaskScorer('best')).toThrow('unknown scorer "best"');
  });
});

it('gives the mean of exact match and ROUGE-L as quality, whichever truths these come from (MP-64)', () => {
  const text = fc.constantFrom('Oslo', 'oslo', 'Oslo city', 'Київ', 'Київ Oslo', '', '.');
  fc.assert(
    fc.property(text, text, text, (answer, a, b) => {
      const scores = findScorer('exact_rouge').score(answer, [a, b]);
      expect(scores.quality_score).toBe(((scores.exact_match ?? -1) + (scores.rouge_l ?? -1)) / 2);
    }),
  );
});

const exactMatch = (answer: string, truth: string) =>
  findScorer('exact_rouge').score(answer, [truth]).exact_match;

it('gives an exact match that ignores white space around, and nothing else (MP-62)', () => {
  expect(exactMatch(' Oslo\n', 'Oslo')).toBe(1);
  expect(exactMatch('oslo', 'Oslo')).toBe(0);
  expect(exactMatch('Oslo.', 'Oslo')).toBe(0);
  expect(exactMatch('New  York', 'New York')).toBe(0);
  expect(exactMatch('', ' ')).toBe(1);
});

it('finds every text an exact match to itself, lone surrogates and NULs included', () => {
  fc.assert(fc.property(anyText, (value) => exactMatch(value, `\t${value}\n`) === 1));
});
