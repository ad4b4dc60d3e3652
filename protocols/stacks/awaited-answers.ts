import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { HUB_ID, MESH_TYPE_PREFIX, type Packet, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { raceAbort } from '@gaia-mesh/core/system/process/abort.ts';

/** A type that no application's packet can have. */
const FAILED = `${MESH_TYPE_PREFIX}failed`;

/** What answers a packet that could not be worked on: failures travel as packets. */
export function createFailure({ id, task_id, to }: Packet, error: unknown): Packet {
  return {
    type: FAILED,
    from: to ?? HUB_ID,
    id: 'failed',
    reply_to: id,
    task_id,
    token_used: 0,
    ts: 0,
    payload: { reason: shortenReason(toErrorMessage(error)) },
  };
}

/** The reason, if the packet says that the one before it failed. */
function readFailure({ type, payload }: Packet): string | undefined {
  return type === FAILED ? String(payload.reason) : undefined;
}

interface Awaited extends PromiseWithResolvers<readonly Packet[]> {
  readonly came: Packet[];
  readonly wanted: number;
}

/**
 * Packets whose answers come as messages of their own: each says in `reply_to` what it answers, and when as many have come as were
 * expected, that was all.
 */
export class AwaitedAnswers {
  readonly #name: string;
  readonly #awaited = new Map<string, Awaited>();

  /** @param name begins messages: `json/unix` */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Sends a packet and resolves with its answers.
   *
   * @throws MeshError `packet` for one of an id that is being answered, `agent` for one that failed at the other end
   */
  async to(
    { id }: Packet,
    wanted: number,
    signal: AbortSignal,
    send: () => Promise<void> | void,
  ): Promise<readonly Packet[]> {
    if (this.#awaited.has(id))
      throw new MeshError('packet', `${this.#name}: a packet ${id} is being answered already`);
    if (wanted === 0) {
      await send();
      return [];
    }
    const awaited = { came: [], wanted, ...Promise.withResolvers<readonly Packet[]>() };
    this.#awaited.set(id, awaited);
    try {
      const [, came] = await Promise.all([send(), raceAbort(signal, awaited.promise)]);
      return came;
    } finally {
      this.#awaited.delete(id);
    }
  }

  /** One came; nobody may wait for it any more. */
  take(packet: Packet): void {
    const awaited = this.#awaited.get(packet.reply_to ?? '');
    if (awaited === undefined) return;
    const failure = readFailure(packet);
    if (failure !== undefined) awaited.reject(new MeshError('agent', `${this.#name}: ${failure}`));
    else awaited.came.push(packet);
    if (awaited.came.length === awaited.wanted) awaited.resolve(awaited.came);
  }

  /** No answer comes any more. */
  fail(error: MeshError): void {
    for (const { reject } of this.#awaited.values()) reject(error);
    this.#awaited.clear();
  }
}
