import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { HUB_ID } from '@gaia-mesh/core/contracts/packet.ts';
import { formatRecording, type RecordedPacket, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { defaultRecording } from '@gaia-mesh/evaluation/compare/recording.ts';
import { print } from '@gaia-mesh/evaluation/terminal/print.ts';
import { count } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import { chatty } from './chatty.ts';
import { documents } from './documents.ts';
import { mixed } from './mixed.ts';
import type { Part, Task } from './part.ts';
import { tables } from './tables.ts';
import { readSourceTexts } from './texts.ts';

/** Writes the recording and prints its size. */
export function writeTraffic(command: Command): void {
  command.action(() => {
    const recording = buildTrafficSet();
    const text = formatRecording(recording).join('');
    const bytes = gzipSync(text, { level: 9 });
    writeFileSync(defaultRecording, bytes);
    const name = path.relative(codeFolder, defaultRecording);
    print(
      `${name}: ${recording.packets.length} packets, ${count(text.length)} characters, ${count(bytes.length)} B gzipped`,
    );
  });
}

const AGENTS = ['coordinator', 'worker-1', 'worker-2', 'reviewer'] as const;

const PARTS: readonly Part[] = [chatty, mixed, documents, tables];
const SEED = 20_261;
/** 1 January 2026: packets have a time of day, and the file must be identical whenever it is made. */
const START_MS = 1_767_225_600_000;
const STEP_MS = 7;

/**
 * Builds the default recording of `compare`: traffic of four kinds, from 100 bytes to 40 kB per packet, with
 * identical bytes whenever it is made. No adapter of this project was designed for the structure of its
 * payloads.
 */
export function buildTrafficSet(): Recording {
  const texts = readSourceTexts();
  const packets: RecordedPacket[] = [];
  const counts = new Map<string, number>();
  const parts = PARTS.map(({ name, about, tasks }, index) => {
    const made = tasks(new Random(SEED + index), texts);
    const ids = made.map((task, at) => {
      const taskId = `${name}-${String(at + 1).padStart(2, '0')}`;
      packets.push(...toPackets(task, taskId, counts, packets.length));
      return taskId;
    });
    return { name, about, tasks: ids };
  });
  return {
    header: {
      run_id: 'default-traffic',
      team: 'traffic',
      final: null,
      routing: 'direct',
      adapter: 'none',
      engine: 'none',
      agents: AGENTS.map((id) => ({ id, tool: 'generated' })),
      parts,
    },
    packets,
  };
}

function toPackets(
  { opening, said }: Task,
  taskId: string,
  counts: Map<string, number>,
  before: number,
): RecordedPacket[] {
  const nextId = (from: string) => {
    const number = (counts.get(from) ?? 0) + 1;
    counts.set(from, number);
    return `${from}-${number}`;
  };
  const ids = [nextId(HUB_ID)];
  const all: RecordedPacket[] = [];
  const envelope = { task_id: taskId, token_used: 0 };
  const ts = () => START_MS + (before + all.length) * STEP_MS;
  all.push({
    cause: null,
    toolUs: null,
    packet: {
      type: 'doc_init',
      from: HUB_ID,
      id: ids[0] ?? '',
      ...envelope,
      ts: ts(),
      payload: opening,
    },
  });
  for (const { type, from, to, cause, isReply, payload } of said) {
    const id = nextId(from);
    const causeId = ids[cause + 1];
    if (causeId === undefined) throw new Error(`${taskId}: packet ${all.length} has no cause`);
    ids.push(id);
    all.push({
      cause: causeId,
      toolUs: null,
      packet: {
        type,
        from,
        ...(to === undefined ? {} : { to }),
        id,
        ...(isReply === true ? { reply_to: causeId } : {}),
        ...envelope,
        ts: ts(),
        payload,
      },
    });
  }
  return all;
}
