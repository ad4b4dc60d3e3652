import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { expect, test } from 'vitest';
import { sampleRecording } from '../../testing/sample-recording.ts';
import { countTokenFigures } from './token-figures.ts';

const budgetMs = 20_000;
const tools = [
  {
    name: 'calculator',
    description: 'Works out an expression.',
    parameters: { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] },
  },
];

function recordingOf(payloads: readonly JsonObject[]) {
  const [first] = sampleRecording.packets;
  if (first === undefined) throw new Error('the sample has packets');
  const packets = payloads.map((payload, index) => ({
    ...first,
    packet: { ...first.packet, id: `p-${index}`, payload },
  }));
  return { ...sampleRecording, packets };
}

const rows = Array.from({ length: 40 }, (_, id) => ({ id, name: `name ${id}`, open: id % 2 === 0 }));
const recording = recordingOf([
  { rows },
  { text: 'The lamp of the lighthouse was lit for the first time on a clear night in October. '.repeat(5) },
  { numbers: Array.from({ length: 60 }, (_, index) => index / 4) },
  { id: 1, kind: 'ok' },
]);

test('payloads are told apart by what most of them is made of, and TOON gains on tables', async () => {
  const { shapes } = await countTokenFigures(
    recording,
    { tools, budgetMs },
    new AbortController().signal,
    () => false,
  );
  expect(shapes.map(({ shape }) => shape).sort()).toEqual([
    'lists of texts and numbers',
    'prose',
    'records of few fields',
    'tables: rows with the same keys',
  ]);
  const table = shapes.find(({ shape }) => shape.startsWith('tables'));
  expect(table?.toon).toBeLessThan(0.8 * (table?.compact ?? 0));
  for (const { compact, pretty } of shapes) expect(pretty).toBeGreaterThanOrEqual(compact);
});

test('payloads for which there is no time are left out, and their number is told', async () => {
  // Each payload is counted in four forms.
  const answers = Array.from({ length: 12 }, () => false);
  const figures = await countTokenFigures(
    recording,
    { tools, budgetMs },
    new AbortController().signal,
    () => answers.shift() ?? true,
  );
  expect(figures.not_counted).toBe(1);
  expect(figures.shapes.reduce((sum, { payloads }) => sum + payloads, 0)).toBe(3);
});

test('a result that is given twice is read twice; a skill has no schema to read', async () => {
  const { results, definitions } = await countTokenFigures(
    recording,
    { tools, budgetMs },
    new AbortController().signal,
  );
  const [text, structured, both] = results.map(({ tokens }) => tokens);
  expect(structured).toBe(text);
  expect(both).toBeGreaterThan(1.9 * (text ?? 0));
  const [mcp, a2a] = definitions;
  expect(mcp).toMatchObject({ items: 1 });
  expect(a2a?.what).toContain('no schema');
});

test('a count that is interrupted has what needs no payload', async () => {
  const { results, shapes, definitions } = await countTokenFigures(
    recording,
    { tools, budgetMs },
    AbortSignal.abort(),
  );
  expect([results, shapes]).toEqual([[], []]);
  expect(definitions).toHaveLength(2);
});

test('a long text is counted in slices, between which the count may end', async () => {
  const prose = 'The lamp of the lighthouse was lit on a clear night in October. '.repeat(6_000);
  const { o200k } = await import('@gaia-mesh/core/tokens/o200k.ts');
  const payload = { text: prose };
  const { results } = await countTokenFigures(
    recordingOf([payload]),
    { tools, budgetMs },
    new AbortController().signal,
    () => false,
  );
  expect(results[0]?.tokens).toBe(o200k.count(JSON.stringify(payload)));
  let looks = 0;
  const cut = await countTokenFigures(
    recordingOf([payload]),
    { tools, budgetMs },
    new AbortController().signal,
    () => {
      looks += 1;
      return looks > 2;
    },
  );
  expect(cut).toMatchObject({ results: [], not_counted: 1 });
  expect(looks).toBe(3);
});
