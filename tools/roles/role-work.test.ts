import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { holdPanel } from './panel/testing/panel.ts';
import { TIME_SHARES } from './role-work.ts';
import { finalOf } from './testing/final-payload.ts';

describe('the time of a question', () => {
  test('is shared out as the guide says', () => {
    const guide = readFileSync(new URL('../../docs/gaia.md', import.meta.url), 'utf8');
    const rows = [...guide.matchAll(/^\| (`.*) \| (\d+) % \|$/gm)];
    const stated = rows.flatMap(([, roles = '', percent]) =>
      [...roles.matchAll(/`(\w+)`/g)].map(([, role]) => [role, Number(percent) / 100]),
    );

    expect(Object.fromEntries(stated)).toEqual(TIME_SHARES);
  });

  test('that one role of the panel has used up is no reason to give up: the others answer', async () => {
    // Both cases only wait.
    const [plan, critique] = await Promise.all(
      (['plan', 'critique'] as const).map(async (role) => {
        const { model, outcome } = await holdPanel(
          { [role]: [{ hang: true }] },
          { teamOptions: { time_s: 10 } },
          { chunks: ['a heron is 95 cm long'] },
        );
        return { model, outcome, ...finalOf(outcome) };
      }),
    );

    expect(plan).toMatchObject({ outcome: { status: 'answered' }, answer: 'heron, 95' });
    expect(plan?.reasoning_trace).toContain('the planner’s time was up: the question is the only step');
    expect(plan?.model.asked('expert')).toHaveLength(1);
    expect(critique).toMatchObject({ outcome: { status: 'answered' }, answer: 'heron, 95' });
    expect(critique?.reasoning_trace).toContain('the planner’s work stands unjudged');
  });

  test('each role is told its part of what is left', async () => {
    const { mesh } = await holdPanel({}, { teamOptions: { time_s: 1000 } });

    const told = mesh.sentBy('runner').flatMap(({ type, payload }) => {
      const [role = ''] = type.split('.');
      return typeof payload.time_s === 'number' ? [[role, payload.time_s] as const] : [];
    });
    expect(told.map(([role]) => role)).toEqual([
      'plan',
      'critique',
      'research',
      'research',
      'critique',
      'expert',
      'critique',
      'finalize',
    ]);
    for (const [role, seconds] of told) {
      const most = (TIME_SHARES[role] ?? 0) * 995;
      expect(seconds).toBeLessThanOrEqual(most);
      expect(seconds).toBeGreaterThan(0.9 * most);
    }
  });
});
