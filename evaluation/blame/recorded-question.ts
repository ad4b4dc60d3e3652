import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { EXCHANGES_FILE, hashText, recordedReplySchema } from '@gaia-mesh/core/contracts/model-exchange.ts';
import { toFolderName } from '@gaia-mesh/core/contracts/packet.ts';
import type { BranchFile, BranchPacket, BranchReply } from '@gaia-mesh/core/recording/branch-file.ts';
import { readArchivedTexts } from '@gaia-mesh/core/recording/read-archive.ts';
import {
  parseRecording,
  RECORDING_FILE,
  type RecordedPacket,
  type Recording,
} from '@gaia-mesh/core/recording/recording.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';

/** Maximum unpacked bytes of an archive's recording and logs. */
const MAX_BYTES = 1024 * 1024 * 1024;
const AGENT_LOG = 'agent.log';

/** The parts of an agent's packet that blame needs. */
export interface Message extends BranchPacket {
  /** Counted from 1, in the order in which the hub relayed them. */
  readonly place: number;
  readonly id: string;
}

/** A question of a run, with everything that its agents and their models said. */
export interface RecordedQuestion {
  readonly messages: readonly Message[];
  /** Recorded model replies by agent. */
  readonly replies: BranchFile['replies'];
  readonly team: string;
}

/**
 * Reads the question `taskId` from the archive of its run.
 *
 * @throws MeshError `config` for an archive that cannot be read, `usage` for a question that is not in it
 */
export async function readRecordedQuestion(archive: string, taskId: string): Promise<RecordedQuestion> {
  const isWanted = (name: string) =>
    name === RECORDING_FILE || name.endsWith(`/${EXCHANGES_FILE}`) || name.endsWith(`/${AGENT_LOG}`);
  const texts = await readArchivedTexts(archive, isWanted, MAX_BYTES);
  if (texts === null)
    throw new MeshError('config', `archive ${archive}: recording and logs have more than ${MAX_BYTES} bytes`);
  const recording = parseRecording(texts.get(RECORDING_FILE) ?? '', `${archive}:${RECORDING_FILE}`);
  const messages = listMessages(recording, taskId);
  const places = new Map(messages.map(({ id, place }) => [id, place]));
  const replies: Record<string, BranchReply[]> = {};
  for (const { id } of recording.header.agents) {
    const folder = toFolderName(id);
    const asked = texts.get(`${folder}/${EXCHANGES_FILE}`);
    if (asked === undefined) continue;
    const sent = parseSentLines(texts.get(`${folder}/${AGENT_LOG}`) ?? '', places);
    replies[id] = parseBranchReplies(asked, taskId, sent);
  }
  return { messages, replies, team: recording.header.team };
}

function listMessages({ packets, header }: Recording, taskId: string): Message[] {
  const known = new Set(packets.map(({ packet }) => packet.task_id));
  if (!known.has(taskId)) {
    const [some = 'none', ...more] = [...known];
    throw new MeshError(
      'usage',
      `question ${taskId} is not in the recording of team ${header.team}; it has ${some}${more.length === 0 ? '' : ` and ${more.length} others`}. Of a batch that was resumed, name the archive of the run that asked it (--replies)`,
    );
  }
  const payloads = new Map(packets.map(({ packet }) => [packet.id, packet.payload]));
  return packets
    .filter(({ packet, cause }) => packet.task_id === taskId && cause !== null)
    .map((recorded, index) => {
      const cause = recorded.cause === null ? undefined : payloads.get(recorded.cause);
      return {
        ...toBranchPacket(recorded),
        cause: cause && hashText(JSON.stringify(cause)),
        place: index + 1,
        id: recorded.packet.id,
      };
    });
}

function toBranchPacket({ packet: { from, to, type, tag, payload } }: RecordedPacket): BranchPacket {
  return { from, to, type, tag, payload };
}

const notedReplySchema = recordedReplySchema.extend({ task_id: z.string(), time: z.number() });
const sentSchema = z.object({ time: z.number(), dir: z.literal('sent'), id: z.string() });

/** Returns the times at which an agent sent its messages, by the clock that its exchanges use, too. */
function parseSentLines(
  log: string,
  places: ReadonlyMap<string, number>,
): { timeMs: number; place: number }[] {
  return log.split('\n').flatMap((line) => {
    if (!line.includes('"dir":"sent"')) return [];
    const sent = sentSchema.safeParse(tryParseJson(line)).data;
    const place = sent && places.get(sent.id);
    return place === undefined ? [] : [{ timeMs: sent?.time ?? 0, place }];
  });
}

/**
 * Returns an agent's model replies. Each leads to the agent's next message: the agent asked before it sent that message, whatever
 * the hub had relayed by then.
 */
function parseBranchReplies(
  log: string,
  taskId: string,
  sent: ReturnType<typeof parseSentLines>,
): BranchReply[] {
  return log.split('\n').flatMap((line) => {
    const noted = notedReplySchema.safeParse(tryParseJson(line)).data;
    if (noted?.task_id !== taskId) return [];
    const { task_id: _task, time, ...reply } = noted;
    const later = sent.filter(({ timeMs }) => timeMs >= time).map(({ place }) => place);
    const leads_to = later.length === 0 ? null : Math.min(...later);
    return [{ ...reply, leads_to }];
  });
}
