import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Cli, temporaryFolder } from '../../testing/cli.ts';
import { RawAgent } from '../../testing/raw-agent.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { teamFile } from '../../testing/team-file.ts';

/** The documents have 200 MB in all. A process with nothing to do takes some 80 MB, and what is garbage is collected late. */
const MAX_PEAK_MB = 320;
const TASKS = 500;
const DOCUMENT_BYTES = 400_000;

test.skipIf(process.platform !== 'linux')(
  'of a long batch’s documents those alone are in memory that are under way, to its archive’s end',
  async () => {
    const out = temporaryFolder();
    const final = await RawAgent.listen({
      id: '3',
      tool: 'reason',
      onPacket: (cause, agent) => agent.answer(cause, 'yes'),
    });
    const team = teamFile({ final: 3, agents: [final.entry] });
    const tasks = path.join(out, 'tasks.jsonl');
    const text = 'The keeper of the lamp wrote it down. '.repeat(DOCUMENT_BYTES / 38);
    const lineOf = (number: number) =>
      `${JSON.stringify({ task_id: `t${number}`, question: 'Is it?', document: `${number} ${text}` })}\n`;
    writeFileSync(tasks, Array.from({ length: TASKS }, (_, number) => lineOf(number)).join(''));

    const run = new Cli(['bench', '--team', team, '--external', '3', '--tasks', tasks, '--out', out]);
    let peakMb = 0;
    const watch = setInterval(() => {
      peakMb = Math.max(peakMb, peakMbOf(run.pid));
    }, 50);
    const { code } = await run.ended();
    clearInterval(watch);

    expect(code).toBe(0);
    expect(readMetrics(out)).toMatchObject({ answered: TASKS, recording: { missing: [] } });
    expect(peakMb).toBeGreaterThan(50);
    expect(peakMb).toBeLessThan(MAX_PEAK_MB);
  },
);

/** Returns 0 for a process that is gone, and for one that has ended and that its parent has not read yet. */
function peakMbOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
