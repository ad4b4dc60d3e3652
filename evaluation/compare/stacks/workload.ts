import type { JsonObject, Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { planExchanges } from './exchanges.ts';
import { makePlayable } from './peers/planned-inbox.ts';
import type { PlannedExchange } from './peers/protocol.ts';

/** Maximum exchanges of a recording that a pair plays, spread evenly over it: a pass takes a second with the slowest stack. */
const MAX_RECORDED = 100;
/** Number of different echoes of one size, so that contents vary a little. */
const ECHOES = 20;

/**
 * Builds the exchanges of a recording through a hub, for one client and one server: addressed packets, with replies in the response.
 * Exchanges without an answer are included, since an acknowledgement has a cost, too.
 */
export function buildRecordedExchanges(recording: Recording): readonly PlannedExchange[] {
  const exchanges = planExchanges(recording);
  const step = Math.max(1, exchanges.length / MAX_RECORDED);
  const chosen = Array.from(
    { length: Math.min(exchanges.length, MAX_RECORDED) },
    (_, index) => exchanges[Math.floor(index * step)],
  ).filter((exchange) => exchange !== undefined);
  return makePlayable(chosen);
}

/** Builds echoes of payloads of exactly `size` bytes; the same seed gives the same payloads. */
export function buildEchoes(size: number, seed: number): readonly PlannedExchange[] {
  const random = new Random(seed);
  return Array.from({ length: ECHOES }, (_, index) => {
    const request = createPacket(`q-${index}`, 'hub', 'a', drawPayload(size, random));
    const reply = createPacket(`a-${index}`, 'a', 'hub', drawPayload(size, random));
    return { request, replies: [{ ...reply, reply_to: request.id }] };
  });
}

function createPacket(id: string, from: string, to: string, payload: JsonObject): Packet {
  // The time is constant, so that bytes are the same from run to run.
  return { type: 'echo', from, to, id, task_id: 'task', token_used: 0, ts: 1_795_000_000_000, payload };
}

const WORDS =
  'the lamp of lighthouse was first lit on a clear night in October and its light reached ships at sea'.split(
    ' ',
  );

/** Draws a payload of exactly `bytes` as JSON: records as tools return them, filled up with text. */
function drawPayload(bytes: number, random: Random): JsonObject {
  const word = () => WORDS[random.integer(WORDS.length)] ?? '';
  const records: JsonObject[] = [];
  const text = (fill: string) => ({ records, text: fill });
  const sizeOf = (value: JsonObject) => Buffer.byteLength(JSON.stringify(value));
  let left = bytes - sizeOf(text(''));
  // Half of the payload is records, the rest is prose.
  while (left > bytes / 2 + RECORD_BYTES) {
    const record = {
      id: random.integer(100_000),
      subject: word(),
      relation: `${word()} ${word()}`,
      value: random.integer(1000) / 8,
    };
    records.push(record);
    left = bytes - sizeOf(text(''));
  }
  let fill = '';
  while (fill.length < left) fill += `${word()} `;
  return text(fill.slice(0, Math.max(0, left)));
}

const RECORD_BYTES = 120;
