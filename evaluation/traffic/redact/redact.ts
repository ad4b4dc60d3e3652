import {
  HUB_ID,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Packet,
} from '../../../core/contracts/packet.ts';
import type { RecordedPacket, Recording } from '../../../core/recording/recording.ts';
import { Random } from '../../../core/system/random.ts';
import type { ImportNotes } from '../message.ts';
import { PROTOCOL_KEYS, PROTOCOL_TYPES } from './protocol-names.ts';
import { StandInNames } from './stand-in-names.ts';
import { standInNumber } from './stand-in-number.ts';
import { type CountTokens, standInText } from './stand-in-text.ts';

/** The same file gives the same stand-ins; they say nothing of what they stand in for. */
const SEED = 1;
/** 1 January 2026. */
const EPOCH_MS = 1_767_225_600_000;
const REPLY = /\.(?:result|error)$/;

/**
 * The recording with a stand-in for every text, number and name: as many bytes in UTF-8 and in JSON, as many tokens where that can be,
 * the same nesting and the same number of items. What stays: who answers whom and in which order, how long it took, counts of tokens,
 * `true`, `false` and `null`, and the keys and methods that protocols name. Repetition is lost: what compresses, compresses otherwise.
 */
export async function redacted({ header, packets }: Recording, notes: ImportNotes): Promise<Recording> {
  const { tokensOf } = await import('../../../core/tokens/o200k.ts');
  const redactor = new Redactor(packets, tokensOf);
  const all = packets.map((entry) => redactor.packet(entry));
  notes.drop(
    'every text, number and name: stand-ins with the same lengths and counts of tokens are in their places',
    'every text, number and name: stand-ins with the same lengths and counts of tokens are in their places',
  );
  notes.guess(
    'tokens of a stand-in: some more or fewer',
    'tokens of # stand-ins: some more or fewer',
    undefined,
    redactor.inexact,
  );
  return {
    header: {
      ...header,
      run_id: 'redacted',
      agents: header.agents.map(({ id, tool }) => ({ id: redactor.nodeId(id), tool })),
    },
    packets: all,
  };
}

class Redactor {
  inexact = 0;
  readonly #random = new Random(SEED);
  readonly #keys = new StandInNames(SEED, PROTOCOL_KEYS);
  readonly #types = new StandInNames(SEED, PROTOCOL_TYPES);
  readonly #nodes = new StandInNames(SEED, [HUB_ID]);
  readonly #tasks = new StandInNames(SEED);
  readonly #countTokens: CountTokens;
  readonly #ids = new Map<string, string>();
  readonly #earliest: number;

  constructor(packets: readonly RecordedPacket[], countTokens: CountTokens) {
    this.#countTokens = countTokens;
    this.#earliest = packets.reduce(
      (least, { packet }) => Math.min(least, packet.ts),
      Number.POSITIVE_INFINITY,
    );
    for (const { packet } of packets)
      this.#ids.set(packet.id, `${this.nodeId(packet.from)}${packet.id.slice(packet.from.length)}`);
  }

  packet({ cause, packet, ...entry }: RecordedPacket): RecordedPacket {
    const { type, from, to, id, reply_to, task_id, tag: _tag, token_used, ts, payload } = packet;
    const stand: Packet = {
      type: this.#typeOf(type),
      from: this.nodeId(from),
      ...(to === undefined ? {} : { to: this.nodeId(to) }),
      id: this.#idOf(id),
      ...(reply_to === undefined ? {} : { reply_to: this.#idOf(reply_to) }),
      task_id: this.#tasks.of(task_id),
      token_used,
      ts: EPOCH_MS + ts - this.#earliest,
      payload: this.#object(payload),
    };
    return { ...entry, cause: cause === null ? null : this.#idOf(cause), packet: stand };
  }

  nodeId(id: string): string {
    return id === HUB_ID ? id : this.#nodes.of(id);
  }

  #idOf(id: string): string {
    const known = this.#ids.get(id);
    if (known === undefined) throw new Error('a packet that is not in the recording was named');
    return known;
  }

  #typeOf(type: string): string {
    const base = type.replace(REPLY, '');
    if (PROTOCOL_TYPES.has(base)) return type;
    return `${this.#types.of(base)}${type.slice(base.length)}`;
  }

  #object(object: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(object).map(([key, value]) => [
        PROTOCOL_KEYS.has(key) || key === '' ? key : this.#keys.of(key),
        this.#value(value),
      ]),
    );
  }

  #value(value: JsonValue): JsonValue {
    if (typeof value === 'string') {
      const { text, isExact } = standInText(value, this.#random, this.#countTokens);
      if (!isExact) this.inexact += 1;
      return text;
    }
    if (typeof value === 'number') return standInNumber(value, this.#random);
    if (isJsonObject(value)) return this.#object(value);
    return Array.isArray(value) ? value.map((item: JsonValue) => this.#value(item)) : value;
  }
}
