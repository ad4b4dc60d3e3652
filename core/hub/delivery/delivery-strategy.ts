import type { JsonObject, PacketHead } from '../../contracts/packet.ts';
import type { HubDelivery } from '../../wire/handshake-messages.ts';
import type { Batch, Message } from '../batch.ts';
import type { ControlSender } from '../control-sender.ts';
import type { Link } from '../link.ts';

/**
 * How what agents and the hub send gets to the agents: one for a whole run. It knows which connections there are, counts what becomes of
 * its deliveries, and is asked about agents that are lost. What is said here is at most once: what is under way when a connection ends is
 * lost, nothing is kept for anybody, and nothing comes again.
 */
export abstract class DeliveryStrategy {
  /** Whether deliveries get lost on living connections. */
  abstract readonly isLossy: boolean;

  /** What the handshake agrees on with the agent `id`; nothing where deliveries are not acknowledged. */
  terms(_id: string): HubDelivery | undefined {
    return undefined;
  }

  /** A connection begins: at the start, or in the place of one that was lost. */
  admit(_link: Link, _control: ControlSender): void {
    // Every connection is like the others.
  }

  /** A connection has ended. */
  lost(_link: Link): void {
    // Nothing was kept for it.
  }

  /** The agent of a lost connection does not come back. */
  abandon(_link: Link): void {
    // Nothing was kept for it.
  }

  /** Whether what a lost agent misses is kept until it is back. */
  awaits(_link: Link): boolean {
    return false;
  }

  /** Whether a lost agent is still a destination, if only to have counted what it misses. */
  reaches(_link: Link): boolean {
    return false;
  }

  /** An agent sent a packet, with `head` where that can be read. False for one that has come before, and is not to be relayed again. */
  receive(_sender: Link, _head?: PacketHead): boolean {
    return true;
  }

  /** An agent says what became of deliveries to it. */
  acknowledge(_sender: Link, _payload: JsonObject | undefined): void {
    // Nobody asked for it.
  }

  /** Sends on what an agent sent. */
  abstract deliver(batch: Batch): void;

  /** Sends one packet to one agent: the hub's own, or what another strategy keeps. */
  abstract carry(message: Message, link: Link): void;

  /** Writes what was held back for the end of the turn. */
  flush(): void {
    // Nothing was held back.
  }

  /** The ledger is about to be closed: what is still held back is delivered now, and nothing is repeated any more. */
  abstract end(): void;
}
