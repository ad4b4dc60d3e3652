import { closeSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import * as z from 'zod';
import { MeshError } from '../contracts/errors.ts';
import { toFolderName } from '../contracts/packet.ts';
import { readByteLines } from '../system/files/byte-lines.ts';
import { openUntrustedFile } from '../system/files/untrusted-file.ts';
import { tryParseJson } from '../system/json-line.ts';
import type { PacketTrace } from './recording.ts';

/** Work for a packet, as its sender reports it. */
interface ReportedWork extends Required<Pick<PacketTrace, 'work'>> {
  readonly cause: string;
  readonly tool_us: number;
}

const duration = z.number().nonnegative();
const sentSchema = z.object({
  id: z.string(),
  cause: z.string(),
  received_us: z.number(),
  sent_us: z.number(),
  decode_us: duration,
  tool_us: duration,
  engine_us: duration,
  encode_us: duration,
});
const beganSchema = z.looseObject({ began: z.string() });

/** Maximum bytes of a line. Even lines of large packets are shorter, so that reading stops at a longer one. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** Time for which the reading of a log may hold up signals and timers. */
const PAUSE_EVERY_MS = 20;
/**
 * Reads the work that the agents `ids` report in their logs below `workspaces` for the run `runId`, by packet
 * id. An agent that stays up has earlier runs in its log: only lines after the last one that begins this run
 * count. An agent without a log reports nothing, and neither do lines that are not read when the time is up.
 */
export async function readReportedWork(
  workspaces: string,
  ids: readonly string[],
  runId: string,
  isTimeUp: () => boolean = () => false,
): Promise<Map<string, ReportedWork>> {
  const all = new Map<string, ReportedWork>();
  for (const id of ids) {
    let isOurs = false;
    for await (const line of readLogLines(path.join(workspaces, toFolderName(id), 'agent.log'))) {
      if (isTimeUp()) return all;
      if (line.includes('"dir":"session"')) {
        const session = beganSchema.safeParse(tryParseJson(line));
        if (session.success) isOurs = session.data.began === runId;
      } else if (isOurs && line.includes('"dir":"sent"')) {
        const sent = sentSchema.safeParse(tryParseJson(line));
        // A packet that is sent again after a lost connection is logged again: the last line counts.
        if (!sent.success) continue;
        const {
          id: packetId,
          cause,
          tool_us,
          received_us,
          sent_us,
          decode_us,
          engine_us,
          encode_us,
        } = sent.data;
        all.set(packetId, {
          cause,
          tool_us,
          work: { received_us, sent_us, decode_us, engine_us, encode_us },
        });
      }
    }
  }
  return all;
}

/** Yields the whole lines of an agent's log; none if it never came up or keeps its log elsewhere. */
async function* readLogLines(file: string): AsyncGenerator<string> {
  const descriptor = openUntrustedFile(file);
  if (descriptor === undefined) return;
  const tooLong = () => new MeshError('packet', `${file} has a line that is too long`);
  try {
    let pausedMs = performance.now();
    for (const { bytes, isWhole } of readByteLines(descriptor, { maxBytes: MAX_LINE_BYTES, tooLong })) {
      if (!isWhole) return;
      yield bytes.toString('utf8');
      if (performance.now() - pausedMs < PAUSE_EVERY_MS) continue;
      await pause();
      pausedMs = performance.now();
    }
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
  } finally {
    closeSync(descriptor);
  }
}
