import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseRunEvent, type RunEvent } from '@gaia-mesh/core/run/run-event.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { parseStacks } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import { expect, onTestFinished, test } from 'vitest';
import { Cli, temporaryFolder } from '../../testing/cli.ts';

/** A page without a browser: it reads the events of a command that is watched, each as the schema has it, up to the end. */
async function eventsOf(cli: Cli) {
  const [, url = ''] = await cli.says(/watch it at (\S+)/);
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const { body } = await fetch(`${url}events`, { signal: leave.signal });
  const events: RunEvent[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue;
      const sent: unknown[] = JSON.parse(line.slice(6));
      const parsed = sent.flatMap((event) => parseRunEvent(event) ?? []);
      expect(parsed).toHaveLength(sent.length);
      events.push(...parsed);
    }
    if (events.at(-1)?.event === 'stream_ended') break;
  }
  const report: unknown = await (await fetch(`${url}report`)).json();
  leave.abort();
  return { events, report };
}

test('a comparison tells each invocation when it is over, and its report in the end', async () => {
  const args = ['compare', '--adapters', 'json,msgpack', '--invocations', '1', '--budget', '5', '--watch'];
  const cli = new Cli([...args, '--out', 'out'], { cwd: temporaryFolder() });

  const { events, report } = await eventsOf(cli);

  const arms = events.flatMap((event) => (event.event === 'sample' ? [event.arm] : []));
  expect(arms.sort()).toEqual(['json', 'msgpack']);
  expect(events.filter(({ event }) => event === 'packet')).toEqual([]);
  expect(events.at(-1)).toMatchObject({ event: 'stream_ended', text: 'compared' });
  expect(report).toMatchObject({ comparison: { sentence: expect.any(String) } });
  expect(await cli.ended()).toMatchObject({ code: 0 });
});

test('a comparison of stacks tells the time and the bytes of each invocation, and its report in the end', async () => {
  const args = ['compare', '--stacks', 'mesh/json,json/http1', '--implementation', 'bare', '--watch'];
  const design = ['--invocations', '1', '--rounds', '1', '--budget', '5', '--out', 'out'];
  const folder = temporaryFolder();
  const cli = new Cli([...args, ...design], { cwd: folder });

  const { events, report } = await eventsOf(cli);

  const [begun] = events.flatMap((event) => (event.event === 'run_began' ? [event] : []));
  expect(begun).toMatchObject({ adapter: 'mesh/json bare · json/http1 bare', agents: [] });
  const samples = events.flatMap((event) => (event.event === 'sample' ? [event] : []));
  const written = path.join(folder, 'out', 'comparison.json');
  const { arms } = parseStacks(readFileSync(written, 'utf8'), written);
  // A busy machine may leave an arm out, whose first round does not fit into the budget.
  expect(samples.map(({ arm }) => arm).sort()).toEqual(arms.map(({ name }) => name).sort());
  expect(samples.map(({ arm }) => arm)).toContain('mesh/json bare');
  for (const { arm, bytes } of samples) {
    const own = arms.find(({ name }) => name === arm);
    expect(bytes).toBe(Math.round(own?.bytes.per_exchange ?? 0));
  }
  expect(events.at(-1)).toMatchObject({ event: 'stream_ended', text: 'compared' });
  expect(report).toMatchObject({ comparison: { sentence: expect.any(String) } });
  expect(await cli.ended()).toMatchObject({ code: 0 });
});
