import type { Recording } from '../recording.ts';

/** Size classes of packets by their payload in bytes of JSON; the last is open-ended. */
const SIZE_CLASSES = [
  { name: 'below 256 B', below: 256 },
  { name: '256 B to 1 KiB', below: 1024 },
  { name: '1 to 8 KiB', below: 8 * 1024 },
  { name: '8 KiB and more', below: Number.POSITIVE_INFINITY },
] as const;

/** A group of packets, each counted once. */
interface TrafficGroup {
  readonly name: string;
  readonly packets: number;
  /** Bytes of the payloads as compact JSON: the application's content. */
  readonly payload: number;
  /** Bytes of the frames, as the hub counted them. */
  readonly wire: number;
}

/**
 * Traffic of one round of a replay, by the recording's parts (a single one if it names none) and by size of
 * payload.
 */
export interface TrafficGroups {
  readonly parts: readonly TrafficGroup[];
  readonly sizes: readonly TrafficGroup[];
}

interface PacketPosition {
  readonly part: number;
  readonly size: number;
  readonly payload: number;
}

type Sum<T> = { -readonly [K in keyof T]: T[K] };

const NOTHING = { packets: 0, payload: 0, wire: 0 };

/** Tallies the traffic of a recording, round by round. The group of each packet is computed once for all rounds. */
export class TrafficTally {
  readonly #partNames: readonly string[];
  readonly #positions: ReadonlyMap<string, PacketPosition>;
  #parts: readonly Sum<TrafficGroup>[] = [];
  #sizes: readonly Sum<TrafficGroup>[] = [];

  constructor({ header, packets }: Recording) {
    const { parts = [] } = header;
    const partOf = new Map(parts.flatMap(({ tasks }, index) => tasks.map((task) => [task, index])));
    const isWhole = packets.every(({ packet }) => partOf.has(packet.task_id));
    this.#partNames = [
      ...parts.map(({ name }) => name),
      ...(isWhole ? [] : [parts.length === 0 ? 'all' : 'other']),
    ];
    this.#positions = new Map(
      packets.map(({ packet }) => {
        const payload = Buffer.byteLength(JSON.stringify(packet.payload));
        const size = SIZE_CLASSES.findIndex(({ below }) => payload < below);
        return [packet.id, { part: partOf.get(packet.task_id) ?? this.#partNames.length - 1, size, payload }];
      }),
    );
    this.begin();
  }

  /** Begins a round. */
  begin(): void {
    this.#parts = this.#partNames.map((name) => ({ name, ...NOTHING }));
    this.#sizes = SIZE_CLASSES.map(({ name }) => ({ name, ...NOTHING }));
  }

  /** Adds a packet that came in a frame of `frameBytes`. */
  add(id: string, frameBytes: number): void {
    const position = this.#positions.get(id);
    if (position === undefined) return;
    for (const group of [this.#parts[position.part], this.#sizes[position.size]]) {
      if (group === undefined) continue;
      group.packets += 1;
      group.payload += position.payload;
      group.wire += frameBytes;
    }
  }

  /** Returns the groups of the round; size classes without a packet are left out. */
  groups(): TrafficGroups {
    return { parts: this.#parts, sizes: this.#sizes.filter(({ packets }) => packets > 0) };
  }
}
