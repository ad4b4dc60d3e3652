import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { codeFolder, packageVersion, readableByAgents } from '../../config/package-root.ts';
import { defaultOut, userPath } from '../../config/user-paths.ts';
import type { ProtocolAdapter } from '../../core/adapter.ts';
import { MeshError } from '../../core/errors.ts';
import { type AdapterComparison, compareAdapters } from '../../core/recording/compare-adapters.ts';
import { promptTokens } from '../../core/recording/prompt-tokens.ts';
import { readArchivedRecording } from '../../core/recording/read-archive.ts';
import type { Recording } from '../../core/recording/recording.ts';
import { ReplayMesh } from '../../core/recording/replay-mesh.ts';
import { environmentOf } from '../../core/run/manifest.ts';
import { Random } from '../../core/statistics/random.ts';
import { fewestRounds } from '../../core/statistics/stopping.ts';
import { evaluateThreshold, parseThreshold, type Threshold } from '../../core/statistics/thresholds.ts';
import { adapterNamed, adapterNames } from '../../protocols/registry.ts';
import type { ComparisonReport, Row } from '../compare/comparison-report.ts';
import { recordDefaultRun } from '../compare/record-run.ts';
import { conclusionOf } from '../compare/sentence.ts';
import { comparisonTable, csvOf, markdownOf } from '../compare/tables.ts';
import { interruptible } from '../interruptible.ts';
import { listOf } from '../option-values.ts';

export interface CompareCommandOptions {
  readonly adapters?: string;
  readonly recording?: string;
  readonly budget: number;
  readonly rounds: number;
  readonly seed: number;
  readonly failIf?: readonly string[];
  readonly out?: string;
  readonly json?: boolean;
}

/** Intervals narrower than this on each side are narrow enough. */
const HALF_WIDTH = 0.02;

/** Compares adapters on the same recorded packets. */
export async function compare(options: CompareCommandOptions): Promise<void> {
  const thresholds = (options.failIf ?? []).map(parseThreshold);
  const adapters = await adaptersOf(options.adapters);
  const { signal } = interruptible();
  const workspaces = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-compare-'));
  try {
    const archive =
      options.recording === undefined ? await recordDefaultRun(workspaces) : userPath(options.recording);
    const recording = await readArchivedRecording(archive);
    const report = await measure(recording, adapters, options, workspaces, signal);
    write(report, options);
    if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    else console.log(comparisonTable(report));
    hold(thresholds, report);
  } finally {
    rmSync(workspaces, { recursive: true, force: true });
  }
}

async function adaptersOf(names: string | undefined): Promise<[ProtocolAdapter, ...ProtocolAdapter[]]> {
  const wanted = names === undefined ? adapterNames : listOf(names);
  const [first, ...rest] = await Promise.all(wanted.map((name) => adapterNamed(name)));
  if (first === undefined || rest.length === 0) {
    throw new MeshError('usage', '--adapters: expected at least two, the baseline first, e.g. json,msgpack');
  }
  return [first, ...rest];
}

async function measure(
  recording: Recording,
  adapters: readonly [ProtocolAdapter, ...ProtocolAdapter[]],
  options: CompareCommandOptions,
  workspaces: string,
  signal: AbortSignal,
): Promise<ComparisonReport> {
  const mesh = await ReplayMesh.start({
    recording,
    toolTime: 0,
    workspaces: path.join(workspaces, 'replay'),
    timeoutMs: 60_000,
    entry: path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
    readable: readableByAgents(),
    environment: process.env,
    secret: randomBytes(32).toString('hex'),
    signal,
  });
  let comparison: AdapterComparison;
  try {
    comparison = await compareAdapters({
      mesh,
      adapters,
      rule: {
        relativeHalfWidth: HALF_WIDTH,
        minRounds: Math.max(12, fewestRounds(adapters.length - 1)),
        maxRounds: options.rounds,
        budgetMs: options.budget * 1000,
      },
      random: new Random(options.seed),
      bootstrapSeed: options.seed,
      onRound: ({ rounds, elapsedMs }) => {
        if (rounds % 10 === 0) console.error(`${rounds} rounds, ${(elapsedMs / 1000).toFixed(0)} s`);
      },
    });
  } finally {
    await mesh.stop();
  }
  const rows: Row[] = [];
  for (const [index, figures] of comparison.adapters.entries()) {
    const adapter = adapters[index];
    rows.push({
      ...figures,
      prompt_tokens: adapter === undefined ? null : await promptTokens(recording, adapter),
    });
  }
  return {
    schema_version: 1,
    run_id: recording.header.run_id,
    team: recording.header.team,
    tasks: recording.packets.filter(({ cause }) => cause === null).length,
    packets: recording.packets.length,
    seed: options.seed,
    environment: environmentOf(packageVersion),
    ...comparison,
    adapters: rows,
    ...conclusionOf(comparison, recording),
  };
}

function write(report: ComparisonReport, options: CompareCommandOptions): void {
  const out = options.out === undefined ? defaultOut() : userPath(options.out);
  mkdirSync(out, { recursive: true });
  writeFileSync(path.join(out, 'comparison.json'), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(path.join(out, 'comparison.csv'), csvOf(report));
  writeFileSync(path.join(out, 'comparison.md'), markdownOf(report));
  console.error(`written: comparison.json, comparison.csv and comparison.md in ${out}`);
}

/** Exit code 1 when a threshold is crossed, so that CI can hold a protocol budget. */
function hold(thresholds: readonly Threshold[], report: ComparisonReport): void {
  const table = Object.fromEntries(
    report.adapters.map(({ adapter, ledger, latency_us, prompt_tokens }) => [
      adapter,
      {
        bytes: ledger.total.wire,
        header: ledger.total.header_size,
        time: latency_us.median,
        ...(prompt_tokens === null ? {} : { tokens: prompt_tokens }),
      },
    ]),
  );
  for (const threshold of thresholds) {
    const { text, failed, left, right } = evaluateThreshold(threshold, table);
    console.error(`${failed ? 'FAILED' : 'held'}: ${text} (${left} against ${right})`);
    if (failed) process.exitCode = 1;
  }
}
