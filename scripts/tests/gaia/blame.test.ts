import { existsSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { blameSchema } from '@gaia-mesh/evaluation/blame/blame-file.ts';
import { startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { place, run } from '../../testing/gaia-questions.ts';

const blame = (cwd: string, ...args: string[]) =>
  callCli(['gaia', 'blame', ...args, '--out', 'a.jsonl'], { cwd });

describe('gaia blame', () => {
  test('names the message in which an agent lied, and nobody where the answer was right', async () => {
    const folder = place();
    await run(folder, '--no-cache', '--faults', 'lie=triple@triples', '--fault-seed', '3');

    const lie = await blame(folder, 'bridge', '--json');
    expect(lie.code, lie.stderr).toBe(0);
    const found = blameSchema.parse(JSON.parse(lie.stdout));
    expect(found).toMatchObject({ correct: false, complete: true, blamed: [3], outset: { chance: 1 } });
    expect(found.messages.map(({ from, type, verdict }) => [from, type, verdict])).toEqual([
      ['0', 'search_docs', 'no effect'],
      ['1', 'events', 'no effect'],
      ['2', 'triples', 'made the answer wrong'],
      ['3', 'data_event', 'no effect'],
    ]);
    expect(found.messages[2]).toMatchObject({
      chance: 0,
      tries: 10,
      again: { chance: 1, difference: 1 },
      replaced: { truth: { chance: 1 } },
    });
    expect(found.branches).toMatchObject({ departed: 0, failed: 0 });
    expect(existsSync(path.join(folder, 'a.runs', 'blame', 'bridge', 'blame.html'))).toBe(true);

    await run(folder, '--no-cache');
    const honest = await blame(folder, 'bridge', '--repeat', '2');
    expect(honest.stdout).toContain(
      'The answer was right, and no message was found to have made the answer wrong.',
    );
    expect(honest.stdout).not.toMatch(/\d +made the answer wrong/);
    // The progress ends with the number of branches of the summary.
    const [, branches = ''] = /^(\d+) branches, 0 without an answer/m.exec(honest.stdout) ?? [];
    const [last = ''] = honest.stderr.match(/^\d+\/\d+ branches, .*$/gm)?.slice(-1) ?? [];
    expect(last).toMatch(new RegExp(`^(?:${branches}/${branches}|\\d+/${branches}) branches, `));
  });

  test('names each of two liars, and asks a model only for what follows the branch', async () => {
    const tripleOf = (subject: string) => ({
      triples: [{ sentence: 0, subject, relation: 'built', object: 'the bridge' }],
    });
    const steps: readonly (readonly [string, string, JsonObject])[] = [
      ['You search a document', 'search', { chunks: [0] }],
      ['You pick sentences', 'extract', { sentences: [0] }],
      ['You state facts as triples', 'triple', tripleOf('Ida Lund')],
      ['Your task: reason final', 'reason', { sentence: 0, answer: '' }],
    ];
    let lies = true;
    const asked = new Map<string, number>();
    const server = await startModelServer(({ messages }) => {
      const step = steps.find(([opening]) => messages[0]?.content.startsWith(opening));
      if (step === undefined) throw new Error('no step begins its prompt so');
      const [, name, content] = step;
      asked.set(name, (asked.get(name) ?? 0) + 1);
      if (name === 'triple' && lies) return { content: tripleOf('Bo Ek') };
      if (name !== 'reason') return { content };
      // An honest reasoner believes the triples; a liar does not even read them.
      const answer = /\] (.+?) \| built/.exec(messages[1]?.content ?? '')?.[1] ?? '';
      return { content: { ...content, answer: lies ? 'Kai Moe' : answer } };
    });
    onTestFinished(() => server.close());
    const folder = place();
    const live = ['--base-url', `${server.url}/v1`, '--model', 'm'];
    const first = await run(folder, '--no-cache', '--limit', '2', '--question-time', '60', ...live);
    expect(first.code, first.stderr).toBe(0);
    expect(asked.get('search')).toBe(2);

    asked.clear();
    lies = false;
    const { code, stdout, stderr } = await blame(
      folder,
      ...['bridge', '--repeat', '3', '--json', '--question-time', '60', ...live],
    );
    expect(code, stderr).toBe(0);
    const found = blameSchema.parse(JSON.parse(stdout));
    expect(found).toMatchObject({ engine: 'openai', model: 'm', answer: 'Kai Moe', blamed: [3, 4] });
    expect(found.branches).toMatchObject({ departed: 0, failed: 0 });
    expect(found.messages.slice(2).map(({ verdict }) => verdict)).toEqual([
      'made the answer wrong',
      'changed the wrong answer',
    ]);
    // Three times: branches at the outset and at the messages 1, 2 and 3. Six times afresh: those at 2 and 3. The truth: at none.
    expect(Object.fromEntries(asked)).toEqual({ search: 3, extract: 6, triple: 9 + 6, reason: 12 + 12 });
    const tokens = [...asked.values()].reduce((sum, count) => sum + count, 0) * 110;
    expect(found.branches).toMatchObject({ tokens, own_tokens: 4 * 110 });
  });

  test('refuses, with what to do, what it cannot blame anybody for', async () => {
    const folder = place();
    const none = await blame(folder, 'bridge');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('no batch of gaia was found')]);
    await run(folder, '--no-cache', '--limit', '1');
    const unknown = await blame(folder, 'clock');
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('is not in the recording of team'),
    ]);
    await run(folder, '--limit', '1');
    await run(folder, '--limit', '1');
    const cached = await blame(folder, 'lamp');
    expect([cached.code, cached.stderr]).toEqual([
      2,
      expect.stringContaining(
        'question lamp was answered from the cache, so the batch has no messages of it: run the batch again with --no-cache',
      ),
    ]);
  });
});
