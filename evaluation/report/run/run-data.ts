import { copyHead } from '@gaia-mesh/core/contracts/packet.ts';
import { formatWarning } from '@gaia-mesh/core/contracts/warning.ts';
import { listCaveats, type RecordedPacket, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { Timeline } from '@gaia-mesh/core/recording/timeline.ts';
import { toAttemptId } from '../../questions/question.ts';
import { count, toOneLine } from '../../terminal/table.ts';
import type { RunData, Traffic } from '../page-data.ts';
import { cutEnd, showAttempt } from '../shown-attempt.ts';
import type { ArchivedRun } from './archived-run.ts';

/** Maximum packets of a run on its page, which can draw this many without delay. */
const MAX_PACKETS = 100_000;
/** Packets whose contents are on the page. */
const MAX_DETAILS = 5_000;
/** Contents of all packets, as characters of JSON. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Characters of one packet's JSON, so that it opens at once. */
const MAX_JSON_CHARACTERS = 16 * 1024;
/** Maximum answers of a batch on the page, which then opens in about a second. */
const MAX_RESULTS = 2_000;
/** Characters of one attempt's reasoning, and of all of them together. */
const MAX_TRACE_CHARACTERS = 8_000;
const TRACE_CHARACTERS = 2 * 1024 * 1024;

export function buildRunData(run: ArchivedRun): RunData {
  const { metrics, made, recording, results, logs } = run;
  const room = Math.min(MAX_TRACE_CHARACTERS, Math.floor(TRACE_CHARACTERS / Math.max(1, results.length)));
  const shown = results.slice(0, MAX_RESULTS).map((attempt) => ({
    ...showAttempt(attempt, room),
    id: toAttemptId(attempt.task_id, attempt.cycle),
  }));
  const common = {
    metrics,
    made,
    logs,
    results: shown,
    warnings: metrics.warnings.map((warning) => toOneLine(formatWarning(warning), 600)),
  };
  const noteLeft = (what: string, held: number, all: number) =>
    held < all
      ? [`The page holds the first ${count(held)} of ${count(all)} ${what}; the archive has them all.`]
      : [];
  const notes = noteLeft('answers', shown.length, results.length);
  if (recording === null) return { ...common, notes, tasks: [], traffic: null, details: [] };
  const entries = sortEntries(recording.packets).slice(0, MAX_PACKETS);
  const documents = Map.groupBy(entries, ({ packet }) => packet.task_id);
  const ids = [...documents.keys()];
  const details = listDetails(entries);
  return {
    ...common,
    tasks: ids.map((id) => ({
      id: toOneLine(id, 256),
      question: readQuestion(documents.get(id)?.find(({ cause }) => cause === null)),
    })),
    traffic: buildTraffic(recording, entries),
    details,
    notes: [
      ...notes,
      ...listCaveats(recording).map((text) => toOneLine(text, 300)),
      ...noteLeft('packets', entries.length, recording.packets.length),
      ...(details.length < entries.length
        ? [
            `Contents are those of the first ${count(details.length)} of ${count(entries.length)} packets; the archive has the others.`,
          ]
        : []),
    ],
  };
}

/** Sorts packets by their arrival at the hub; if one has no time of arrival, all stay in the recorded order. */
function sortEntries(entries: readonly RecordedPacket[]): readonly RecordedPacket[] {
  if (entries.some(({ relayed }) => relayed === undefined)) return entries;
  return entries.toSorted((a, b) => (a.relayed?.arrived_us ?? 0) - (b.relayed?.arrived_us ?? 0));
}

function buildTraffic({ header, packets }: Recording, entries: readonly RecordedPacket[]): Traffic {
  const isTimed = entries.every(({ relayed }) => relayed !== undefined);
  const startUs = entries[0]?.relayed?.arrived_us ?? 0;
  const timeline = new Timeline(packets);
  const places = new Map(entries.map(({ packet }, index) => [packet.id, index]));
  const toMs = (us: number) => Math.round(us) / 1000;
  return {
    isTimed,
    agents: header.agents.map(({ id, tool }) => ({ id, tool: toOneLine(tool, 40) })),
    packets: entries.map((entry, index) => {
      const { packet, cause, relayed, tool_us } = entry;
      const parts = timeline.measurePiece(entry);
      return {
        ...copyHead(packet),
        bytes: relayed?.bytes ?? 0,
        atMs: isTimed && relayed !== undefined ? toMs(relayed.arrived_us - startUs) : index,
        cause: cause === null ? undefined : places.get(cause),
        toolMs: isTimed && cause !== null && tool_us !== null ? toMs(tool_us) : undefined,
        // The times to an agent and back are measured together, so that half of the sum counts for each.
        afterToolMs: parts === undefined ? undefined : toMs(parts.encode + (parts.wire + parts.agent) / 2),
      };
    }),
  };
}

function readQuestion(opening: RecordedPacket | undefined): string | null {
  const question = opening?.packet.payload.question;
  return typeof question === 'string' ? toOneLine(question, 300) : null;
}

/** Lists the contents of the first packets as JSON. */
function listDetails(entries: readonly RecordedPacket[]): string[] {
  const details: string[] = [];
  let characters = 0;
  for (const { packet } of entries.slice(0, MAX_DETAILS)) {
    const json = cutEnd(JSON.stringify(packet, null, 2), MAX_JSON_CHARACTERS);
    characters += json.length;
    // The first packets are always included; the bound of a single packet limits their size.
    if (characters > MAX_CHARACTERS && details.length > 2) break;
    details.push(json);
  }
  return details;
}
