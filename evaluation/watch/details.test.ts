import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { LiveDetails } from './details.ts';

/** Creates workspaces of agents `a`, `b` and `c`, and a secret file beside them. */
function begun() {
  const folder = temporaryFolder();
  const workspaces = path.join(folder, 'workspaces');
  for (const agent of ['a', 'b', 'c', 'd']) mkdirSync(path.join(workspaces, agent), { recursive: true });
  writeFileSync(path.join(folder, 'agent.log'), 'secret');
  const details = new LiveDetails();
  details.began('run', workspaces, ['a', 'b', 'c']);
  return { details, workspaces };
}

test('shows the last whole lines of a log, and says that there are more', async () => {
  const { details, workspaces } = begun();
  writeFileSync(path.join(workspaces, 'a', 'agent.log'), `${'x'.repeat(99)}\n`.repeat(10_000));
  writeFileSync(path.join(workspaces, 'hub.log'), 'line\n');

  const log = await details.log('run', 'a');
  expect(log?.isCut).toBe(true);
  expect(log?.text.length).toBeLessThanOrEqual(64 * 1024);
  expect(log?.text.split('\n')[0]).toBe('x'.repeat(99));
  expect(await details.log('run', 'hub')).toEqual({ text: 'line\n', isCut: false });
});

test('shows files of the agents of the run, and no other', async () => {
  const { details, workspaces } = begun();
  for (const agent of ['b', 'd']) writeFileSync(path.join(workspaces, agent, 'agent.log'), agent);

  expect(await details.log('run', 'b')).toEqual({ text: 'b', isCut: false });
  for (const name of ['d', '..', '.', '../b', '/etc/passwd', '\0', 'hub.log', ''])
    expect(await details.log('run', name)).toBeUndefined();
  expect(await details.log('another', 'b')).toBeUndefined();
});

test('a link or a pipe in the place of a log shows nothing, and is not waited for', async () => {
  const { details, workspaces } = begun();
  symlinkSync(path.join(workspaces, '..', 'agent.log'), path.join(workspaces, 'a', 'agent.log'));
  execFileSync('mkfifo', [path.join(workspaces, 'b', 'agent.log')]);

  expect(await details.log('run', 'a')).toBeUndefined();
  expect(await details.log('run', 'b')).toBeUndefined();
});

test('tells how far a team has come with a question, in the order of time', async () => {
  const { details, workspaces } = begun();
  const note = (time: number, task_id: string, text: string) =>
    `${JSON.stringify({ time, task_id, by: 'planner', kind: 'reasoning', text })}\n`;
  writeFileSync(
    path.join(workspaces, 'a', 'trace.log'),
    note(2, 'q', 'then that') + note(3, 'p', 'of another'),
  );
  writeFileSync(path.join(workspaces, 'b', 'trace.log'), `${note(1, 'q', 'first this')}no JSON of q\n`);

  expect(await details.reasoning('run', 'q')).toMatch(/first this.*then that/s);
  expect(await details.reasoning('run', 'q')).not.toContain('of another');
  expect(await details.reasoning('run', 'none')).toBeUndefined();
});
