import type { Link, LinkCounts } from '../../hub/link.ts';
import type { RunMetrics } from './metrics-schema.ts';

/** `current` is the link that the agent has now, `former` are those that it had before it was started again. */
export function agentMetrics(
  current: Link,
  former: readonly Link[],
  unseen: ReadonlySet<string>,
): RunMetrics['agents'][number] {
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
    tokens: unseen.has(node.id) ? null : sum('tokens'),
    refused: sum('refusedPackets') + (books?.refused.packets ?? 0),
    session_bytes: sum('sessionRx') + sum('sessionTx'),
    tool_us: books === undefined ? null : books.sent.reduce((us, entry) => us + entry.tool_us, 0),
  };
}
