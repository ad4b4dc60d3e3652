import { expect, test } from 'vitest';
import { runLab } from '../testing/run-lab.ts';
import { MemoryCurve } from './soak.ts';
import { drawInjectedFaults } from './soak-round.ts';

test('a soak has no agents of impossible numbers', async () => {
  expect(await runLab(['soak', '--agents', '4', '--processes', '5'])).toMatchObject({ code: 2 });
});

test('injected faults are the same for the same seed, and others for another', () => {
  expect(drawInjectedFaults(7, 1, 8, 4)).toEqual(drawInjectedFaults(7, 1, 8, 4));
  expect(drawInjectedFaults(7, 1, 8, 4)).not.toEqual(drawInjectedFaults(7, 2, 8, 4));
  expect(drawInjectedFaults(7, 1, 8, 4)).not.toEqual(drawInjectedFaults(8, 1, 8, 4));
});

test('memory counts from when it has settled, at rest', () => {
  const curve = new MemoryCurve(1_000_000);
  curve.end();
  for (let second = 1; second <= 100; second++) curve.note(second < 10 ? second : 90 + second, second);

  expect(curve.growth()).toEqual({ early: 140, late: 190, growth: expect.closeTo(5 / 14), peak: 190 });
});
