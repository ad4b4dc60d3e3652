import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { taskPlace } from '../../files/testing/task-place.ts';
import { isRunning, RestrictedAgent } from '../fixtures/restricted-agent.ts';
import { calculator } from './calculator.ts';

describe('its process', () => {
  const calculate = async (expression: string, { signal } = new AbortController()) =>
    (await calculator.run({ expression }, { ...taskPlace(), signal })).data?.value;

  test('answers calls at the same time each with its own result', async () => {
    expect(await calculate('2 * 21')).toBe(42);
    const results = await Promise.all(Array.from({ length: 100 }, (_, n) => calculate(`${n} + 1`)));
    expect(results).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
  });

  test('stops a calculation that would take all memory, and the next one works (REQ-082)', async () => {
    await expect(calculate('transpose([1:9000]) * [1:9000]')).rejects.toMatchObject({
      code: 'tool',
      message: expect.stringMatching(/^it was stopped, since it took (longer than 5 s|more than 192 MB)/),
    });
    expect(await calculate('1 + 1')).toBe(2);
  });

  test('ends its calculation, and what waits behind it, with the run', async () => {
    const end = new AbortController();
    const calls = ['factorial(1e9)', 'factorial(1e9)', '1 + 1'].map((expression) =>
      calculate(expression, end),
    );
    const outcomes = Promise.allSettled(calls);
    end.abort();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'tool', message: expect.stringContaining('the task has ended') },
      });
    }
    expect(await calculate('1 + 1')).toBe(2);
  });
});

describe('in an agent with an agent’s permissions', () => {
  let agent: RestrictedAgent;
  beforeAll(() => {
    agent = new RestrictedAgent({ GAIA_TEST_KEY: 'secret' });
  });
  afterAll(() => agent.stop());

  test('calculates', async () => {
    expect(await agent.call({ tool: 'calculator', input: { expression: '3 miles to km' } })).toEqual({
      text: '4.828032 km',
      data: { value: 4.828032, unit: 'km' },
    });
  });

  test.runIf(process.platform === 'linux')(
    'its process has neither the agent’s rights nor its environment',
    () => {
      const [child] = childrenOf(agent.pid);
      const environment = readFileSync(`/proc/${child}/environ`, 'utf8');
      expect(environment).not.toMatch(/NODE_OPTIONS|secret/);
      const options = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0');
      expect(options).toContain('--permission');
      expect(options.filter((option) => /allow-(fs-write|child|worker|addons|wasi)/.test(option))).toEqual(
        [],
      );
    },
  );

  test.runIf(process.platform === 'linux')(
    'its process ends with an agent that is killed, in the middle of a calculation',
    async () => {
      const [child] = childrenOf(agent.pid);
      const call = agent.call({ tool: 'calculator', input: { expression: 'factorial(1e9)' } });
      await agent.kill();
      await call;
      await expect.poll(() => isRunning(Number(child)), { timeout: 20_000 }).toBe(false);
    },
  );
});

function childrenOf(pid: number): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return (
        readFileSync(`/proc/${name}/stat`, 'utf8')
          .replace(/^.*\) /s, '')
          .split(' ')[1] === String(pid)
      );
    } catch {
      return false; // It has ended meanwhile.
    }
  });
}
