import { constants, createReadStream, openSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { readSystemCode } from '../contracts/errors.ts';
import { toFolderName } from '../contracts/node-id.ts';
import { tryParseJson } from '../system/json-line.ts';
import type { AgentWork } from './recording.ts';

/** Work for a packet, as its sender reports it. */
export interface ReportedWork extends AgentWork {
  readonly cause: string;
  readonly toolUs: number;
}

const duration = z.number().nonnegative();
const sentSchema = z.looseObject({
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

/** Maximum characters of a line; reading of a log stops there, since a line with a large packet has less. */
const MAX_LINE_CHARACTERS = 64 * 1024 * 1024;
/**
 * Flags that refuse links and do not block on pipes: an agent that puts one in place of its log stops
 * nothing, and reports nothing.
 */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

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
    for await (const line of readFileLines(path.join(workspaces, toFolderName(id), 'agent.log'))) {
      if (isTimeUp()) return all;
      if (line.includes('"dir":"session"')) {
        const session = beganSchema.safeParse(tryParseJson(line));
        if (session.success) isOurs = session.data.began === runId;
      } else if (isOurs && line.includes('"dir":"sent"')) {
        const sent = sentSchema.safeParse(tryParseJson(line));
        // A packet that is sent again after a lost connection is logged again: the last line counts.
        if (sent.success) all.set(sent.data.id, toReportedWork(sent.data));
      }
    }
  }
  return all;
}

function toReportedWork(sent: z.infer<typeof sentSchema>): ReportedWork {
  return {
    cause: sent.cause,
    toolUs: sent.tool_us,
    receivedAt: sent.received_us,
    sentAt: sent.sent_us,
    decodeUs: sent.decode_us,
    engineUs: sent.engine_us,
    encodeUs: sent.encode_us,
  };
}

/** Yields the complete lines of a file. */
async function* readFileLines(file: string): AsyncGenerator<string> {
  // The parts of a line that spans many reads are joined only once.
  let parts: string[] = [];
  let characters = 0;
  try {
    const stream = createReadStream(file, { fd: openSync(file, OPEN_FLAGS), encoding: 'utf8' });
    for await (const text of stream as AsyncIterable<string>) {
      const lines = text.split('\n');
      const rest = lines.pop() ?? '';
      for (const [index, line] of lines.entries()) {
        yield index === 0 ? parts.join('') + line : line;
      }
      if (lines.length > 0) [parts, characters] = [[], 0];
      parts.push(rest);
      characters += rest.length;
      if (characters > MAX_LINE_CHARACTERS) return;
    }
  } catch (error) {
    // The agent never came up, keeps its log elsewhere, or left something that is not a log.
    if (!['ENOENT', 'ELOOP', 'ENXIO', 'EISDIR'].includes(readSystemCode(error) ?? '')) throw error;
  }
}
