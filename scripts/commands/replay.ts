import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Command } from 'commander';
import { MeshError } from '../../core/contracts/errors.ts';
import { readRecording } from '../../core/recording/read-archive.ts';
import { caveatsOf } from '../../core/recording/recording.ts';
import { ReplayMesh, type Round } from '../../core/recording/replay/replay-mesh.ts';
import { codeFolder, readableByAgents } from '../../core/system/package-root.ts';
import { userPath } from '../../core/system/user-paths.ts';
import { filesFor, readsOf } from '../../evaluation/teams/user-files.ts';
import { adapterOf } from '../../evaluation/teams/user-options.ts';
import { complain, print, printJson } from '../../evaluation/terminal/print.ts';
import { count, decimals, table } from '../../evaluation/terminal/table.ts';
import { interruptible } from '../command-line/interruptible.ts';
import { positiveInteger, positiveNumber } from '../command-line/option-values.ts';
import { inTemporaryFolder } from '../command-line/temporary-folder.ts';

interface ReplayCommandOptions {
  readonly adapter: string;
  readonly toolTime: string;
  readonly rounds: number;
  readonly maxAgents: number;
  readonly timeout?: number;
  readonly json?: boolean;
}

export function replay(command: Command): void {
  command
    .argument('<archive>', 'run_artifacts.tar.gz of a run, or a file of import or hub --record')
    .option('--adapter <name>', 'protocol of the packets', 'json')
    .option('--tool-time <factor>', 'recorded, zero, or a factor of it', 'zero')
    .option('--rounds <n>', 'times to play it', positiveInteger, 1)
    .option('--timeout <seconds>', 'time for one task', positiveNumber)
    .option(
      '--max-agents <n>',
      'most agents that the recording may have; each is a process',
      positiveInteger,
      64,
    )
    .option('--json', 'print the result as one JSON value')
    .action(run);
}

/** Plays the packets of an archived run again, through any adapter, over real sockets and processes. */
async function run(archive: string, options: ReplayCommandOptions): Promise<void> {
  const adapter = await adapterOf(options.adapter);
  const recording = await readRecording(userPath(archive));
  for (const caveat of caveatsOf(recording)) complain(caveat);
  const { signal } = interruptible();
  const rounds: Round[] = [];
  await inTemporaryFolder('replay', async (workspaces) => {
    const mesh = await ReplayMesh.start({
      recording,
      toolTime: toolTimeOf(options.toolTime),
      workspaces,
      timeoutMs: (options.timeout ?? 120) * 1000,
      maxAgents: options.maxAgents,
      entry: path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
      readable: readableByAgents(),
      userAdapters: { files: filesFor(), reads: readsOf(filesFor()) },
      environment: process.env,
      secret: randomBytes(32).toString('hex'),
      signal,
    });
    try {
      for (let round = 0; round < options.rounds; round++) rounds.push(await mesh.play(adapter));
    } finally {
      await mesh.stop();
    }
  });
  const { run_id, team, adapter: recordedWith } = recording.header;
  if (options.json) {
    const result = {
      run_id,
      team,
      recorded_with: recordedWith,
      adapter: adapter.name,
      rounds: rounds.map(roundJson),
    };
    printJson(result);
    return;
  }
  print(`run ${run_id} (team ${team}, recorded with ${recordedWith}) through ${adapter.name}\n`);
  const rows = rounds.map(({ elapsedMs, ledger: { total, written, read }, sessionBytes }, index) => [
    String(index + 1),
    decimals(elapsedMs, 2),
    count(total.wire),
    count(total.payload),
    count(total.header_size),
    count(written.packets),
    count(read.packets),
    count(sessionBytes),
  ]);
  print(
    table([['round', 'ms', 'sent once', 'payload', 'header', 'bytes tx', 'bytes rx', 'session'], ...rows]),
  );
}

function roundJson({ elapsedMs, ledger, sessionBytes, encodeUs, decodeUs }: Round): object {
  return {
    elapsed_ms: elapsedMs,
    session_bytes: sessionBytes,
    encode_us: encodeUs,
    decode_us: decodeUs,
    ledger,
  };
}

function toolTimeOf(text: string): number {
  if (text === 'recorded') return 1;
  if (text === 'zero') return 0;
  const factor = Number(text);
  if (text.trim() !== '' && factor >= 0 && factor <= 1000) return factor;
  throw new MeshError(
    'usage',
    `--tool-time: expected recorded, zero, or a factor from 0 to 1000, not ${JSON.stringify(text)}`,
  );
}
