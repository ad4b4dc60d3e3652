import { expect, test } from 'vitest';
import { parseStacks, type StacksComparison } from '../../compare/comparison-file.ts';
import { makeStacksFile } from '../../compare/stacks/testing/sample-stacks.ts';
import { buildLogHistogram } from './density-view.ts';
import { stackParts } from './stacked-view.ts';
import { viewStacks } from './stacks-view.ts';

const ARMS = [
  { name: 'mesh/json', factor: 1 },
  { name: 'a2a/jsonrpc', factor: 3 },
  { name: 'mcp/http', factor: 1.001 },
  { name: 'json/websocket', factor: 2, isOverloaded: true },
];
const file = makeStacksFile(ARMS);
const view = viewStacks(file);
const plain = (text: string | undefined) => (text ?? '').replaceAll('\u00a0', ' ');

test('the heading is the sentence of the file', () => {
  expect(plain(view.sentence)).toBe(file.sentence);
  const few = viewStacks(makeStacksFile(ARMS.slice(0, 3), 3));
  expect(plain(few.sentence)).toMatch(/^Cannot tell yet \(a2a\/jsonrpc bare, the soonest of 2\): About 5/);
  expect(few.pairs.figures[0]?.ratios.every(({ high, isDetected }) => high === null && !isDetected)).toBe(
    true,
  );
});

test('pairs have ratio, interval, what could have been detected and a verdict, the null test among them', () => {
  expect(view.pairs.figures.map(({ name }) => name)).toEqual(['time', 'CPU time', 'time when saturated']);
  expect(view.pairs.figures[0]?.ratios.map(({ label, verdict }) => [label, verdict])).toEqual([
    ['mesh/json bare again', 'equal ±5 %'],
    ['a2a/jsonrpc bare', 'slower'],
    ['mcp/http bare', 'equal ±5 %'],
  ]);
  expect(plain(view.pairs.figures[0]?.finding)).toBe(
    'Time of an exchange against mesh/json bare: 1 slower, 1 equal ±5 %, 1 did not keep up with the rate',
  );
  expect(view.warnings).toEqual(['the machine was busy meanwhile']);
  expect(view.failed).toEqual(['x/http sdk: 3 packets were sent, and 2 arrived']);
  expect(view.absent).toEqual(['mcp/http sdk: it needs @modelcontextprotocol/client']);
});

test('the parts of each bar come to its whole, in bytes and in CPU time', () => {
  for (const { choices } of [view.bytes, view.cpu, view.setup]) {
    for (const { rows } of choices) {
      for (const { parts, end } of rows) {
        const sum = parts.reduce((total, { from, to }) => total + (from < 0 ? from - to : to - from), 0);
        expect(sum).toBeCloseTo(end, 6);
      }
    }
  }
});

test('what saves runs the other way, and shares of ratios multiply', () => {
  const values = (own: readonly number[]) =>
    own.map((value, hue) => ({ name: `${hue}`, hue, value, title: '' }));
  const ends = (scale: 'sum' | 'product', own: readonly number[]) =>
    stackParts(values(own), scale).map(({ from, to }) => [from, to]);

  expect(ends('sum', [10, -3, 5, 0])).toEqual([
    [0, 10],
    [-3, 0],
    [10, 15],
  ]);
  expect(ends('product', [2, 0.5, 3, 1])).toEqual([
    [1, 2],
    [0.5, 1],
    [2, 6],
  ]);
});

test('two kinds of exchange are two hills of the distribution', () => {
  const near = (ms: number) => Array.from({ length: 300 }, (_, index) => ms * (1 + (index % 20) / 200));
  const { heights, edgesMs } = buildLogHistogram([...near(0.4), ...near(40)]);
  const hills = heights.filter(
    (height, index) =>
      height > 0.3 && (heights[index - 1] ?? 0) < height && (heights[index + 1] ?? 0) <= height,
  );

  expect(edgesMs).toHaveLength(heights.length + 1);
  expect(heights.filter((height) => height === 0).length).toBeGreaterThan(60);
  expect(hills.length).toBeGreaterThanOrEqual(2);
});

test('a share that cannot be told is faint, and what changed together has one', () => {
  const share = { ratio: 2, low: 1.9, high: 2.1 };
  const attributions: StacksComparison['attributions'] = [
    {
      ...{ arm: 'a2a/jsonrpc bare', figure: 'time', method: 'ordered' },
      total: { ratio: 3, low: 2.9, high: 3.1 },
      shares: [
        { factor: 'protocol', from: 'mesh', to: 'a2a', verdict: 'contributes', share },
        {
          factor: 'tls + transport',
          from: 'off + tcp',
          to: 'on + http1',
          verdict: 'cannot tell',
          share: { ...share, ratio: 1.5 },
        },
      ],
    },
  ];
  const why = viewStacks({ ...file, attributions }).attribution;
  const [row] = why?.choices[0]?.rows ?? [];

  expect(view.attribution).toBeNull();
  expect(plain(why?.finding)).toBe('A share in the differences of 1 stack: protocol of 1');
  expect(row).toMatchObject({ end: 3, text: '3.00×' });
  expect(row?.parts.map(({ name, from, to, isSure }) => [name, from, to, isSure])).toEqual([
    ['protocol', 1, 2, true],
    ['tls + transport', 2, 3, false],
  ]);
  expect(why?.table.rows.at(-1)?.slice(2, 4)).toEqual(['tls + transport', 'off + tcp → on + http1']);
});

test('loads that were not kept up with are marked, and rounds stand at their invocations', () => {
  expect(view.curves?.panels[0]).toMatchObject({ lost: [8000], line: [{ x: 100, y: 0.3 }] });
  expect(view.rounds?.panels[0]?.dots).toHaveLength(18);
  expect(view.throughput?.x.ticks).toEqual([1, 4, 16, 64]);
});

test('memory is that of a growing task, and sizes that were asked for are a sweep of each stack', () => {
  expect(plain(view.growth?.finding)).toMatch(/^Of each exchange of one task, the server keeps [\d,]+ B$/);
  expect(view.sizes).toBeNull();

  const arms = [64, 4096].flatMap((size) =>
    file.arms.map((arm) => ({
      ...arm,
      settings: { ...arm.settings, size },
      levels: { size: `${size}` },
    })),
  );
  const { sizes } = viewStacks({ ...file, arms });

  expect(sizes?.panels.map(({ label, line }) => [label, line.map(({ x }) => x)])).toEqual([
    ['mesh/json bare', [64, 4096]],
    ['a2a/jsonrpc bare', [64, 4096]],
    ['mcp/http bare', [64, 4096]],
  ]);
});

test('a file that does not say how it was made has no command', () => {
  const { command: _, ...old } = file;
  const again = parseStacks(JSON.stringify(old), 'old');

  expect(viewStacks(again).command).toBeNull();
  expect(view.command).toBe('npm run compare -- --stacks mesh/json,a2a/jsonrpc');
});
