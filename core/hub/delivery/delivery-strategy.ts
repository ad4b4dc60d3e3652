import type { JsonObject, PacketHead } from '../../contracts/packet.ts';
import type { HubDelivery } from '../../wire/handshake-messages.ts';
import type { Batch, Message } from '../batch.ts';
import type { ControlSender } from '../control-sender.ts';
import type { Link } from '../link.ts';

/**
 * How what agents and the hub send gets to the agents: one for a whole run. It knows which connections there are, counts what becomes of
 * its deliveries, and is asked about agents that are lost.
 */
export interface DeliveryStrategy {
  /** Whether deliveries get lost on living connections. */
  readonly isLossy: boolean;
  /** What the handshake agrees on with the agent `id`; nothing where deliveries are not acknowledged. */
  terms(id: string): HubDelivery | undefined;

  /** A connection begins: at the start, or in the place of one that was lost. */
  admit(link: Link, control: ControlSender): void;
  /** A connection has ended. */
  lost(link: Link): void;
  /** The agent of a lost connection does not come back. */
  abandon(link: Link): void;
  /** Whether what a lost agent misses is kept until it is back. */
  awaits(link: Link): boolean;
  /** Whether a lost agent is still a destination, if only to have counted what it misses. */
  reaches(link: Link): boolean;

  /** An agent sent a packet, with `head` where that can be read. False for one that has come before, and is not to be relayed again. */
  receive(sender: Link, head?: PacketHead): boolean;
  /** An agent says what became of deliveries to it. */
  acknowledge(sender: Link, payload: JsonObject | undefined): void;

  /** Sends on what an agent sent. */
  deliver(batch: Batch): void;
  /** Sends one packet to one agent: the hub's own, or what another strategy keeps. */
  carry(message: Message, link: Link): void;
  /** Writes what was held back for the end of the turn. */
  flush(): void;
  /** The ledger is about to be closed: what is still held back is delivered now, and nothing is repeated any more. */
  end(): void;
}
