import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { codeFolder, readableByAgents } from '../../config/package-root.ts';
import { userPath } from '../../config/user-paths.ts';
import { MeshError } from '../../core/errors.ts';
import { readArchivedRecording } from '../../core/recording/read-archive.ts';
import { ReplayMesh, type Round } from '../../core/recording/replay-mesh.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { interruptible } from '../interruptible.ts';
import { count, decimals, table } from '../terminal/table.ts';

export interface ReplayCommandOptions {
  readonly adapter: string;
  readonly toolTime: string;
  readonly rounds: number;
  readonly timeout?: number;
  readonly json?: boolean;
}

/** Plays the packets of an archived run again, through any adapter, over real sockets and processes. */
export async function replay(archive: string, options: ReplayCommandOptions): Promise<void> {
  const adapter = await adapterNamed(options.adapter);
  const recording = await readArchivedRecording(userPath(archive));
  const workspaces = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-replay-'));
  const { signal } = interruptible();
  const rounds: Round[] = [];
  try {
    const mesh = await ReplayMesh.start({
      recording,
      toolTime: toolTimeOf(options.toolTime),
      workspaces,
      timeoutMs: (options.timeout ?? 120) * 1000,
      entry: path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
      readable: readableByAgents(),
      environment: process.env,
      secret: randomBytes(32).toString('hex'),
      signal,
    });
    try {
      for (let round = 0; round < options.rounds; round++) rounds.push(await mesh.play(adapter));
    } finally {
      await mesh.stop();
    }
  } finally {
    rmSync(workspaces, { recursive: true, force: true });
  }
  const { run_id, team, adapter: recordedWith } = recording.header;
  if (options.json) {
    const result = {
      run_id,
      team,
      recorded_with: recordedWith,
      adapter: adapter.name,
      rounds: rounds.map(roundJson),
    };
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    return;
  }
  console.log(`run ${run_id} (team ${team}, recorded with ${recordedWith}) through ${adapter.name}\n`);
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
  console.log(
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
