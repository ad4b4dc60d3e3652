import { expect, test } from 'vitest';
import { buildTimeView } from './time-view.ts';

const known = { encode: 10, relay: 20, wire: 30, decode: 40, tool: 100, engine: 700, agent: 100 };

test('the parts of a time that is known are those of tools and mesh', () => {
  const view = buildTimeView({ ...known, unknown: 0, total: 1000 }, 1);

  expect(view?.finding).toBe('70\u00a0% of the time is the engine, 20\u00a0% the mesh');
  expect(view?.parts.map(({ name }) => name)).not.toContain('unknown');
  expect(view?.caption).toContain('every part measured');
});

test('what an agent did not report is a part of its own, and none of the mesh', () => {
  const view = buildTimeView({ ...known, unknown: 1000, total: 2000 }, 1);

  expect(view?.finding).toBe(
    '35\u00a0% of the time is the engine, 10\u00a0% the mesh, 50\u00a0% is not known',
  );
  expect(view?.parts.find(({ name }) => name === 'unknown')).toMatchObject({ ms: 1, isMesh: false });
  expect(view?.parts.reduce((sum, { ms }) => sum + ms, 0)).toBeCloseTo(2);
  expect(view?.caption).not.toContain('every part measured');
});
