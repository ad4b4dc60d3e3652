/**
 * The exports of `gaia-mesh`: the types for writing an adapter, a tool or an engine, and the mesh itself for driving it
 * from code (`docs/extending.md`).
 */

export type { AgentSpec } from '@gaia-mesh/core/agent/spec.ts';
export type { AdapterSession, Codec, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
export type { Engine, EngineWork, ModelRequest, Step } from '@gaia-mesh/core/contracts/engine.ts';
export { type ErrorCode, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
export { type LedgerLine, measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
export {
  type JsonObject,
  type JsonValue,
  type Packet,
  type PacketHead,
  parsePacket,
} from '@gaia-mesh/core/contracts/packet.ts';
export { chunkDocument } from '@gaia-mesh/core/contracts/task.ts';
export type { Emission, Tool, ToolContext } from '@gaia-mesh/core/contracts/tool.ts';
export { AcknowledgedDelivery } from '@gaia-mesh/core/hub/delivery/acknowledged.ts';
export type { DeliveryStrategy } from '@gaia-mesh/core/hub/delivery/delivery-strategy.ts';
export { DirectDelivery } from '@gaia-mesh/core/hub/delivery/direct.ts';
export { type DeliveryEvent, FaultyDelivery } from '@gaia-mesh/core/hub/delivery/faulty.ts';
export { parseFaults } from '@gaia-mesh/core/hub/faults/parse-faults.ts';
export type { Link, LinkCounts, MeshNode } from '@gaia-mesh/core/hub/link.ts';
export { MeshNetwork, type MeshNetworkOptions } from '@gaia-mesh/core/hub/mesh-network.ts';
export type { MeshObserver } from '@gaia-mesh/core/hub/mesh-observer.ts';
export { createRouter } from '@gaia-mesh/core/hub/routing.ts';
export type { TaskRequest } from '@gaia-mesh/core/hub/tasks/open-tasks.ts';
export type { TaskOutcome, TaskStatus } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
export { formatTraceparent } from '@gaia-mesh/core/recording/trace-context.ts';
export type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
export { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
export type { TaskResult } from '@gaia-mesh/evaluation/results/task-result.ts';
export { findScorer, type Scorer, scorerNames } from '@gaia-mesh/evaluation/scorers/scorer.ts';
export { startAgent } from '@gaia-mesh/evaluation/teams/start-agent.ts';
export { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
export type {
  Inbox,
  Stack,
  StackClient,
  StackServer,
  StackSettings,
  WireBytes,
} from '@gaia-mesh/stacks/contract/stack.ts';
export { meterStack } from '@gaia-mesh/stacks/meter/metered.ts';
export { callStack } from '@gaia-mesh/stacks/plain/call-stack.ts';
export { createStreamStack } from '@gaia-mesh/stacks/plain/stream-stack.ts';
