import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { DOC_INIT, type JsonObject } from '../../core/contracts/packet.ts';
import type { Emission, Tool } from '../../core/contracts/tool.ts';
import { finalAnswer, parsed } from './parts.ts';

/** Epochs that a peer remembers. */
const MAX_EPOCHS = 1000;
/** After the settings of AGNTCY's benchmark: a round in which most agree adds this much confidence, and this much is enough. */
const GAIN = 0.12;
const ENOUGH = 0.55;
const START = 0.1;

const findingSchema = z.object({
  agent: z.int(),
  round: z.int().min(1).max(10_000),
  value: z.int(),
  confidence: z.number(),
});
const snapshotSchema = z.object({ agent: z.int(), value: z.int(), round: z.int() });
const peerOptions = z.looseObject({
  agent: z.int().min(0),
  agents: z.int().min(2),
  values: z.int().min(2).default(3),
  think_ms: z.number().min(0).max(60_000).default(0),
  /** Characters that each finding carries along, to load the wire. */
  padding: z.int().min(0).max(1_000_000).default(0),
});
type PeerOptions = z.infer<typeof peerOptions>;

/** One peer's state in one epoch, which is a task of ours. */
class Epoch {
  isThinking = false;
  isDone = false;
  #round = 1;
  #value: number;
  #confidence = START;
  readonly #options: PeerOptions;
  /** Values by round and agent. */
  readonly #heard = new Map<number, Map<number, number>>();

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#value = options.agent % options.values;
  }

  hear({ round, agent, value }: z.infer<typeof findingSchema>): void {
    const values = this.#heard.get(round) ?? new Map<number, number>();
    this.#heard.set(round, values.set(agent, value));
  }

  /** All others have said what they hold in this round. */
  get isComplete(): boolean {
    return !this.isDone && (this.#heard.get(this.#round)?.size ?? 0) === this.#options.agents - 1;
  }

  /** Takes over what most hold, the smallest of equals. */
  advance(): void {
    const votes = new Map([[this.#value, 1]]);
    for (const value of this.#heard.get(this.#round)?.values() ?? [])
      votes.set(value, (votes.get(value) ?? 0) + 1);
    const [[value, count] = [this.#value, 1]] = [...votes].toSorted(([a, m], [b, n]) => n - m || a - b);
    this.#value = value;
    if (count > this.#options.agents / 2) this.#confidence = Math.min(1, this.#confidence + GAIN);
    this.#heard.delete(this.#round);
    this.#round += 1;
    this.isDone = this.#confidence >= ENOUGH;
  }

  emission(): Emission {
    const { agent, padding } = this.#options;
    if (this.isDone) return { type: 'snapshot', payload: { agent, value: this.#value, round: this.#round } };
    const said: JsonObject = {
      agent,
      round: this.#round,
      value: this.#value,
      confidence: Math.round(this.#confidence * 100) / 100,
    };
    return { type: 'finding', payload: padding === 0 ? said : { ...said, padding: 'x'.repeat(padding) } };
  }
}

/** Says what it holds, hears what the others hold, and changes its mind, until all hold the same (AGNTCY's consensus). */
export const consensusPeer: Tool = consensusPeerTool();

function consensusPeerTool(): Tool {
  const epochs = new Map<string, Epoch>();
  const epochOf = (taskId: string, options: PeerOptions) => {
    let epoch = epochs.get(taskId);
    if (epoch === undefined) {
      if (epochs.size >= MAX_EPOCHS) epochs.clear();
      epoch = new Epoch(options);
      epochs.set(taskId, epoch);
    }
    return epoch;
  };
  return {
    name: 'consensus_peer',
    description: 'says what it holds, hears what the others hold, until all hold the same',
    accepts: [DOC_INIT, 'finding'],
    emits: ['finding', 'snapshot'],
    async run(packet, { options, signal }) {
      const settings = parsed(peerOptions, options, 'options of consensus_peer');
      // Another's finding may come before the document.
      const epoch = epochOf(packet.task_id, settings);
      if (packet.type === DOC_INIT) return [epoch.emission()];
      epoch.hear(parsed(findingSchema, packet.payload, `the finding from ${packet.from}`));
      const said: Emission[] = [];
      if (epoch.isThinking) return said;
      epoch.isThinking = true;
      try {
        while (epoch.isComplete) {
          if (settings.think_ms > 0) await sleep(settings.think_ms, undefined, { signal });
          epoch.advance();
          said.push(epoch.emission());
        }
      } finally {
        epoch.isThinking = false;
      }
      return said;
    },
  };
}

/** Waits until every peer says that it has made up its mind. */
export const consensusWatch: Tool = consensusWatchTool();

function consensusWatchTool(): Tool {
  const seen = new Map<string, Map<number, number>>();
  return {
    name: 'consensus_watch',
    description: 'waits until every peer has made up its mind, and says what they hold',
    accepts: ['snapshot'],
    emits: ['data_event'],
    async run(packet, { options }) {
      const { agents } = parsed(
        z.looseObject({ agents: z.int().min(2) }),
        options,
        'options of consensus_watch',
      );
      const { agent, value, round } = parsed(
        snapshotSchema,
        packet.payload,
        `the snapshot from ${packet.from}`,
      );
      const values = seen.get(packet.task_id) ?? new Map<number, number>();
      if (seen.size >= MAX_EPOCHS) seen.clear();
      seen.set(packet.task_id, values.set(agent, value));
      if (values.size < agents) return [];
      const held = [...new Set(values.values())];
      return [finalAnswer(held.length === 1 ? String(held[0]) : 'no consensus', { round })];
    },
  };
}
