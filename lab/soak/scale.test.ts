import { expect, test } from 'vitest';
import { runLab } from '../testing/run-lab.ts';
import { scalePart } from './scale.ts';

test('a scale curve has a point for each number of agents, each with balanced books', async () => {
  const { code, stdout, stderr } = await runLab(['scale', '--agents', '2,5', '--seconds', '0.3', '--json']);

  expect(code, stderr).toBe(0);
  const { points, machine } = JSON.parse(stdout);
  expect(points).toMatchObject([
    { agents: 2, processes: 2, isBalanced: true },
    { agents: 5, processes: 4, isBalanced: true },
  ]);
  expect(points[1].setUpMs).toEqual([...points[1].setUpMs].sort((a: number, b: number) => a - b));
  // Each packet goes to all but its sender.
  expect(points[1].deliveriesPerS).toBeCloseTo(4 * points[1].packetsPerS, 0);
  expect(machine).toContain(process.version);
  expect(scalePart(points, 0.3).body).toMatch(/\| 5 \| 4 \| \d+\.\d ms \(.*\| balanced \|/);
});

test('numbers of agents that make no curve are refused', async () => {
  expect(await runLab(['scale', '--agents', '4,many'])).toMatchObject({ code: 2 });
});
