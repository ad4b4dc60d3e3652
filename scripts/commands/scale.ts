import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { codeFolder } from '../../config/package-root.ts';
import { MeshError, messageOf } from '../../core/errors.ts';
import { docsPage, shownRevision } from '../docs-page.ts';
import { interruptible } from '../interruptible.ts';
import { listOf } from '../option-values.ts';
import { machine } from '../perf/results-page.ts';
import { scalePage, scaleRows } from '../soak/scale-page.ts';
import { measureScale, type ScalePoint } from '../soak/scale-point.ts';
import { table } from '../terminal/table.ts';

export interface ScaleOptions {
  readonly agents: string;
  readonly seconds: number;
  readonly json?: boolean;
  readonly write?: boolean;
}

const MAX_AGENTS = 1000;

const number = z.number().nonnegative();
const reportSchema = z.object({
  points: z
    .array(
      z.object({
        agents: number,
        processes: number,
        setUpMs: z.array(number),
        packetsPerS: number,
        deliveriesPerS: number,
        idleRss: number,
        peakRss: number,
        isBalanced: z.boolean(),
      }),
    )
    .length(1),
});

/** Measures set-up, throughput and memory of the hub for several numbers of agents. Exit code 1 if a book does not balance. */
export async function scale(options: ScaleOptions): Promise<void> {
  const page = options.write ? docsPage('scale.md') : undefined;
  const numbers = listOf(options.agents).map(agentsIn);
  const [only, ...others] = numbers;
  if (only === undefined) throw new MeshError('usage', '--agents: expected numbers, e.g. 4,16,64');
  const { signal } = interruptible('the measurement');
  const points: ScalePoint[] = [];
  if (others.length === 0) {
    points.push(await measureScale(only, options.seconds, signal));
  } else {
    for (const agents of numbers) {
      signal.throwIfAborted();
      console.error(`${agents} agents …`);
      points.push(await measuredApart(agents, options.seconds));
    }
  }
  if (options.json) process.stdout.write(`${JSON.stringify({ machine: machine(), points }, null, 2)}\n`);
  else console.log(table(scaleRows(points)));
  if (page !== undefined) {
    writeFileSync(page, scalePage(points, options.seconds, await shownRevision()));
    console.error(`written: ${page}`);
  }
  if (points.some(({ isBalanced }) => !isBalanced)) process.exitCode = 1;
}

/** By this command in a process of its own: what one point leaves in memory is not the next one's. */
async function measuredApart(agents: number, seconds: number): Promise<ScalePoint> {
  const entry = path.join(codeFolder, 'scripts', 'gaia-mesh.js');
  const args = [entry, 'scale', `--agents=${agents}`, `--seconds=${seconds}`, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: unknown) => {
    throw new MeshError('agent', `${agents} agents were not measured: ${lastLineOf(error)}`, {
      cause: error,
    });
  });
  const [point] = reportSchema.parse(JSON.parse(stdout)).points;
  if (point === undefined) throw new Error('a report without a point');
  return point;
}

/** What a command said last before it failed. */
function lastLineOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return said.split('\n').at(-1) || messageOf(error);
}

function agentsIn(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 2 || value > MAX_AGENTS) {
    throw new MeshError('usage', `--agents: expected numbers from 2 to ${MAX_AGENTS}, not ${text}`);
  }
  return value;
}
