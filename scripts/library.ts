/**
 * What `import … from 'gaia-mesh'` gives: what an adapter, a tool or an engine of your own is written against, and the mesh
 * itself for those who drive it from their own code (`docs/library.md`).
 */

export type { AgentSpec } from '../core/agent/spec.ts';
export type { AdapterSession, Codec, ProtocolAdapter } from '../core/contracts/adapter.ts';
export type { Engine, EngineWork, ModelRequest, Step } from '../core/contracts/engine.ts';
export { type ErrorCode, MeshError } from '../core/contracts/errors.ts';
export { type LedgerLine, lineOf } from '../core/contracts/ledger.ts';
export {
  type JsonObject,
  type JsonValue,
  type Packet,
  type PacketHead,
  parsePacket,
} from '../core/contracts/packet.ts';
export { chunkDocument } from '../core/contracts/task.ts';
export type { Emission, Tool, ToolContext } from '../core/contracts/tool.ts';
export { AcknowledgedDelivery } from '../core/hub/delivery/acknowledged.ts';
export type { DeliveryStrategy } from '../core/hub/delivery/delivery-strategy.ts';
export { DirectDelivery } from '../core/hub/delivery/direct.ts';
export { type DeliveryEvent, FaultyDelivery } from '../core/hub/delivery/faulty.ts';
export { parseFaults } from '../core/hub/faults/parse-faults.ts';
export type { Link, LinkCounts, MeshNode } from '../core/hub/link.ts';
export { MeshNetwork, type MeshNetworkOptions } from '../core/hub/mesh-network.ts';
export type { MeshObserver } from '../core/hub/mesh-observer.ts';
export { routerNamed } from '../core/hub/routing.ts';
export type { TaskRequest } from '../core/hub/tasks/open-tasks.ts';
export type { TaskOutcome, TaskStatus } from '../core/hub/tasks/task-clock.ts';
export { traceparentOf } from '../core/recording/trace-context.ts';
export type { RunMetrics } from '../core/run/metrics/metrics-schema.ts';
export { parseJsonText } from '../core/system/parse-json.ts';
export type { TaskResult } from '../evaluation/results/task-result.ts';
export { type Scorer, scorerNamed, scorerNames } from '../evaluation/scorers/scorer.ts';
export { startAgent } from '../evaluation/teams/start-agent.ts';
export { adapterNamed } from '../protocols/registry.ts';
export type {
  Inbox,
  Stack,
  StackClient,
  StackServer,
  StackSettings,
  WireBytes,
} from '../protocols/stacks/contract/stack.ts';
export { metered } from '../protocols/stacks/meter/metered.ts';
export { callStack } from '../protocols/stacks/plain/call-stack.ts';
export { streamStack } from '../protocols/stacks/plain/stream-stack.ts';
