import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Cli, isRunning } from '@gaia-mesh/cli/testing/cli.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, test } from 'vitest';
import { startLab } from '../testing/run-lab.ts';

describe('Ctrl-C in the middle of a measurement', () => {
  test.each([
    ['the whole process group', (run: Cli) => run.signalGroup('SIGINT')],
    ['it alone', (run: Cli) => run.signal('SIGTERM')],
  ])('of a watched run, to %s, leaves no process and no folder', async (_whom, interrupt) => {
    const folder = temporaryFolder();
    const run = startLab(['perf', '--watch'], { env: { TMPDIR: folder } });
    const logs = () =>
      readdirSync(folder).flatMap((name) => {
        const file = path.join(folder, name, 'workspaces', 'hub.log');
        return existsSync(file) ? [readFileSync(file, 'utf8')] : [];
      });
    let log = '';
    const read = () => {
      log = logs().join('');
      return log;
    };
    await expect.poll(read, { timeout: 60_000 }).toContain('broadcast');
    const agents = [...log.matchAll(/"event":"agent_up".*?"pid":(\d+)/g)].map(([, pid]) => Number(pid));
    interrupt(run);

    const { code, stderr } = await run.ended();
    expect([code, stderr]).toEqual([130, expect.stringContaining('interrupted')]);
    expect(agents).toHaveLength(4);
    expect(agents.filter(isRunning)).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.startsWith('gaia-mesh'))).toEqual([]);
  });
});
