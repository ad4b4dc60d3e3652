import type { Link, LinkCounts } from '../hub/link.ts';

/** One agent in `metrics.json`. Bytes are whole frames: `bytes_rx` from it, `bytes_tx` to it. */
export interface AgentMetrics {
  readonly id: string;
  readonly tool: string;
  readonly status: 'up' | 'lost';
  /** Why it was lost, where that was not its own doing. */
  readonly fault?: string;
  readonly packets_rx: number;
  readonly bytes_rx: number;
  readonly packets_tx: number;
  readonly bytes_tx: number;
  readonly tokens: number;
  readonly refused: number;
  readonly session_bytes: number;
  /** Time in its tool, microseconds, all packets; null for an agent that handed in no books. */
  readonly tool_us: number | null;
}

/** `current` is the link that the agent has now, `former` are those that it had before it was started again. */
export function agentMetrics(current: Link, former: readonly Link[]): AgentMetrics {
  const { node, alive, fault, books } = current;
  const own = [...former, current];
  const sum = (key: keyof LinkCounts) => own.reduce((total, { counts }) => total + counts[key], 0);
  return {
    id: node.id,
    tool: node.tool,
    status: alive ? 'up' : 'lost',
    ...(fault === undefined ? {} : { fault: fault.message }),
    packets_rx: sum('packetsRx'),
    bytes_rx: sum('bytesRx'),
    packets_tx: sum('packetsTx'),
    bytes_tx: sum('bytesTx'),
    tokens: sum('tokens'),
    refused: sum('refusedPackets') + (books?.refused.packets ?? 0),
    session_bytes: sum('sessionRx') + sum('sessionTx'),
    tool_us: books === undefined ? null : books.sent.reduce((us, entry) => us + entry.tool_us, 0),
  };
}
