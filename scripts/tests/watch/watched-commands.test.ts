import { type RunEvent, runEventSchema } from '@gaia-mesh/core/run/run-event.ts';
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
      const parsed = sent.flatMap((event) => runEventSchema.safeParse(event).data ?? []);
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
