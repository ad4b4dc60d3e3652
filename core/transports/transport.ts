import type { AgentEndpoint } from '../agent/spec.ts';
import type { Team } from '../contracts/team.ts';
import type { MeshNode } from '../hub/link.ts';
import type { FrameLink } from '../wire/frame-link.ts';
import type { Network } from './network/network.ts';

/** Connects a hub to agents. */
export interface Dialler {
  /**
   * Connects to the agent; returns undefined if nothing listens there.
   *
   * @throws MeshError `io` for any other reason
   */
  dial(node: MeshNode): Promise<FrameLink | undefined>;
  /** Describes the agent's address for people. */
  where(node: MeshNode): string;
}

/** An agent's listening address. */
export interface Listener {
  /** Port; 0 if it listens on none. */
  readonly port: number;
  /** Description of the address for people. */
  readonly where: string;
  /**
   * Tells the listener that the agent works for a hub: if several agents share a name, the next hub gets
   * another one.
   */
  setBusy(isBusy: boolean): void;
  close(): Promise<void>;
}

interface LinkHandler {
  accept(link: FrameLink): void;
  /** Reports a problem that does not end the listening. */
  fault(message: string): void;
}

/** @throws MeshError `io` when it cannot listen there */
export type Listen = (hearer: LinkHandler) => Promise<Listener>;

/** The transport of a run's frames. */
export interface RunTransport {
  readonly dialler: Dialler;
  /** Returns the address on which an agent of the run listens; `port` is for agents that listen on one. */
  placeOf(id: string, port: number): AgentEndpoint;
  /** Additional environment variables of the agents. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Returns the bytes of the connection that carried all frames, including its overhead; undefined if each
   * link has its own socket.
   */
  carried(): { readonly written: number; readonly read: number } | undefined;
  close(): Promise<void>;
}

export interface RunTransportOptions {
  readonly team: Pick<Team, 'transport' | 'nats_url' | 'nats_subject' | 'delivery'>;
  readonly runId: string;
  /** Agents that someone else started: they know nothing of this run yet. */
  readonly external: ReadonlySet<string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The network between the hub and each agent, over TCP; null or undefined for the loopback alone. */
  readonly network?: Network | null | undefined;
}
