import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { HUB_ID, MESH_TYPE_PREFIX, type Packet, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { raceAbort } from '@gaia-mesh/core/system/process/abort.ts';

/** A type that no application's packet can have. */
const FAILED = `${MESH_TYPE_PREFIX}failed`;

/** Creates the packet that reports a failure to the sender of a packet. */
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

/** Returns the reason if the packet reports a failure. */
function readFailure({ type, payload }: Packet): string | undefined {
  return type === FAILED ? String(payload.reason) : undefined;
}

interface Awaited extends PromiseWithResolvers<readonly Packet[]> {
  readonly came: Packet[];
  readonly wanted: number;
}

/**
 * Answers that come as messages of their own: each names in `reply_to` the packet that it answers. An
 * exchange is over when the expected number of answers has come.
 */
export class AwaitedAnswers {
  readonly #name: string;
  readonly #awaited = new Map<string, Awaited>();

  /** @param name begins error messages: `json/unix` */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Sends a packet and resolves with its answers.
   *
   * @throws MeshError `packet` for an id that is already awaited, `agent` for a packet that failed at the
   * other end
   */
  async to(
    { id }: Packet,
    wanted: number,
    signal: AbortSignal,
    send: () => Promise<void> | void,
  ): Promise<readonly Packet[]> {
    if (this.#awaited.has(id))
      throw new MeshError('packet', `${this.#name}: a packet ${id} already waits for its answer`);
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

  /** Takes an answer, whose exchange may have ended already. */
  take(packet: Packet): void {
    const awaited = this.#awaited.get(packet.reply_to ?? '');
    if (awaited === undefined) return;
    const failure = readFailure(packet);
    if (failure !== undefined) awaited.reject(new MeshError('agent', `${this.#name}: ${failure}`));
    else awaited.came.push(packet);
    if (awaited.came.length === awaited.wanted) awaited.resolve(awaited.came);
  }

  /** Rejects all exchanges, as no answer will come any more. */
  fail(error: MeshError): void {
    for (const { reject } of this.#awaited.values()) reject(error);
    this.#awaited.clear();
  }
}
