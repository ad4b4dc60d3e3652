import type { JsonObject, PacketHead } from '../../contracts/packet.ts';
import { readMonotonicUs } from '../../system/clock.ts';
import type { HubDelivery } from '../../wire/handshake.ts';
import type { Batch, Message } from '../batch.ts';
import type { ControlSender } from '../control-sender.ts';
import type { Link } from '../link.ts';

/**
 * Delivers packets of agents and of the hub to the agents; one strategy serves a whole run. It tracks the
 * connections, counts the fate of its deliveries, and decides whether to wait for lost agents. The defaults
 * here are at-most-once: packets under way when a connection ends are lost, and nothing is kept or repeated.
 */
export abstract class DeliveryStrategy {
  /** True if deliveries can get lost on living connections. */
  abstract readonly isLossy: boolean;

  /**
   * Returns the delivery terms for the handshake with the agent `id`; undefined if deliveries are not
   * acknowledged.
   */
  terms(_id: string): HubDelivery | undefined {
    return undefined;
  }

  /** Handles a new connection, either at the start or in place of a lost one. */
  admit(_link: Link, _control: ControlSender): void {
    // Every connection is treated alike.
  }

  /** Handles the end of a connection. */
  lost(_link: Link): void {
    // Nothing was kept for it.
  }

  /** Handles an agent that will not come back. */
  abandon(_link: Link): void {
    // Nothing was kept for it.
  }

  /** Returns true if packets are kept for a lost agent until it is back. */
  awaits(_link: Link): boolean {
    return false;
  }

  /** Returns true if a lost agent is still a destination, if only to count the packets that it misses. */
  reaches(_link: Link): boolean {
    return false;
  }

  /**
   * Handles a packet from an agent; `head` is missing if it cannot be read. Returns false for a repeated
   * packet, which must not be relayed again.
   */
  receive(_sender: Link, _head?: PacketHead): boolean {
    return true;
  }

  /** Handles an agent's report on deliveries to it. */
  acknowledge(_sender: Link, _payload: JsonObject | undefined): void {
    // This strategy requests no reports.
  }

  /** Sends on a batch of packets from one agent, each packet to each recipient by itself. */
  deliver(batch: Batch): void {
    batch.forwardedUs = readMonotonicUs();
    for (const message of batch.messages()) for (const link of batch.recipients) this.carry(message, link);
  }

  /** Sends one packet to one agent: a packet of the hub, or one that another strategy keeps. */
  abstract carry(message: Message, link: Link): void;

  /** Writes the data that was held back until the end of the turn. */
  flush(): void {
    // Nothing was held back.
  }

  /**
   * Delivers everything that is still held back and stops repeating, because the ledger is about to be
   * closed.
   */
  abstract end(): void;
}
