import { expect, it } from 'vitest';
import { spreadOverParts } from './model-samples.ts';

const lines = [
  ...Array.from({ length: 20 }, (_, at) => JSON.stringify({ task_id: `squad-p-${at}` })),
  ...Array.from({ length: 10 }, (_, at) => JSON.stringify({ task_id: `nq-${at}` })),
];

it('gives each part its share of the first questions, whatever their number', () => {
  const order = spreadOverParts(lines);
  for (let first = 1; first <= lines.length; first++) {
    const own = order.slice(0, first).filter((line) => line.includes('nq-')).length;
    expect(Math.abs(own - first / 3)).toBeLessThanOrEqual(1);
  }
  expect(order.toSorted()).toEqual(lines.toSorted());
});

it('orders the questions the same, in whatever order the file has them', () => {
  expect(spreadOverParts(lines.toReversed())).toEqual(spreadOverParts(lines));
});
