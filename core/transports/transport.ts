import type { MeshNode } from '../hub/link.ts';
import type { FrameLink } from '../wire/frame-link.ts';

/** How a hub reaches agents. */
export interface Dialler {
  /**
   * A connection to the agent; undefined where nobody listens.
   *
   * @throws MeshError `io` for any other reason
   */
  dial(node: MeshNode): Promise<FrameLink | undefined>;
  /** Where the agent is, for people. */
  where(node: MeshNode): string;
}

/** Where hubs find an agent. */
export interface Listener {
  /** 0 where it listens on no port. */
  readonly port: number;
  /** For people. */
  readonly where: string;
  /** Whether it works for a hub: where several agents share a name, the next hub gets another one. */
  setBusy(isBusy: boolean): void;
  close(): Promise<void>;
}

export interface LinkHandler {
  accept(link: FrameLink): void;
  /** It listens on, but something is wrong. */
  fault(message: string): void;
}

/** @throws MeshError `io` when it cannot listen there */
export type Listen = (hearer: LinkHandler) => Promise<Listener>;
