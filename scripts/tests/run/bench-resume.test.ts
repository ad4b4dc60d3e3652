import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, jsonLines, temporaryFolder } from '../../testing/cli.ts';
import { RawAgent } from '../../testing/raw-agent.ts';
import { taskFile, teamFile } from '../../testing/team-file.ts';

const ids = Array.from({ length: 8 }, (_, i) => `part-${i}`);
const tasks = () =>
  taskFile(ids.map((task_id) => ({ task_id, question: 'Is it?', document: 'It is.', answer: 'yes' })));

/** An agent that outlives the hub: it answers each task, but for `held`, while that is held. */
async function patientAgent(held: string) {
  const state = { isHeld: true };
  const agent = await RawAgent.listen({
    id: '3',
    tool: 'reason',
    onPacket: (packet, self) => !(state.isHeld && packet.task_id === held) && self.answer(packet, 'yes'),
  });
  return { agent, state };
}

describe('a batch whose hub is killed', () => {
  test('goes on with --resume: nothing finished is lost or repeated, the agents are those that were there', async () => {
    const { agent, state } = await patientAgent('part-5');
    const out = temporaryFolder();
    const args = [
      ...['bench', '--team', teamFile({ final: 3, agents: [agent.entry] }), '--external', '3'],
      ...['--out', out, '--tasks', tasks(), '--concurrency', '2', '--json'],
    ];
    const results = path.join(out, 'results.jsonl');
    const first = new Cli(args);
    await vi.waitFor(() => expect(jsonLines(results)).toHaveLength(7), 60_000);
    process.kill(first.pid, 'SIGKILL');
    await first.ended();
    const finished = readFileSync(results, 'utf8');
    // As much of a line as a process may have written that was killed while it wrote it.
    appendFileSync(results, finished.slice(0, 40));
    state.isHeld = false;

    const { code, stdout, stderr } = await callCli([...args, '--resume']);

    expect(stderr).toContain('7 of 8 tasks were finished before');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      tasks: 8,
      answered: 8,
      resumed: 7,
      balanced: true,
      exact_match: 1,
    });
    expect(readFileSync(results, 'utf8').startsWith(finished)).toBe(true);
    expect(
      jsonLines(results)
        .map(({ task_id }) => task_id)
        .sort(),
    ).toEqual(ids);
    const asked = agent.received.map((packet) => packet.task_id);
    expect(asked.filter((id) => id === 'part-5')).toHaveLength(2);
    expect(asked.filter((id) => id !== 'part-5').sort()).toEqual(ids.filter((id) => id !== 'part-5'));
  });

  test('is not gone on with when it was another one, when it is finished, or when there is none', async () => {
    const { agent, state } = await patientAgent('none');
    state.isHeld = false;
    const out = temporaryFolder();
    const file = tasks();
    const team = teamFile({ final: 3, agents: [agent.entry] });
    const args = ['bench', '--team', team, '--external', '3', '--out', out, '--tasks', file];

    const none = await callCli([...args, '--resume']);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('no batch to resume') });

    expect(await callCli([...args, '--limit', '4'])).toMatchObject({ code: 0 });
    const other = await callCli([...args, '--resume', '--limit', '5']);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('other settings (tasks') });
    const finished = await callCli([...args, '--resume', '--limit', '4']);
    expect(finished).toMatchObject({ code: 2, stderr: expect.stringContaining('all 4 tasks') });
    expect(jsonLines(path.join(out, 'results.jsonl'))).toHaveLength(4);
    expect(await callCli(['bench', '--resume'])).toMatchObject({ code: 2 });
  });
});
