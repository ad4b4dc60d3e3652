/**
 * What `import … from 'gaia-mesh'` gives: what an adapter, a tool or an engine of your own is written against, and the mesh
 * itself for those who drive it from their own code.
 */
export type { AdapterSession, Codec, ProtocolAdapter } from './adapter.ts';
export { Agent, type AgentOptions } from './agent/agent.ts';
export type { Engine, EngineWork, ModelRequest, Step } from './engine.ts';
export { type ErrorCode, MeshError } from './errors.ts';
export { type Scorer, scorerNamed, scorerNames } from './evaluation/scorer.ts';
export type { Link, LinkCounts, MeshNode } from './hub/link.ts';
export { MeshNetwork, type MeshNetworkOptions } from './hub/mesh-network.ts';
export type { MeshObserver } from './hub/mesh-observer.ts';
export type { TaskRequest } from './hub/open-tasks.ts';
export type { TaskOutcome, TaskStatus } from './hub/task-clock.ts';
export { type LedgerLine, lineOf } from './ledger.ts';
export { type JsonObject, type JsonValue, type Packet, type PacketHead, parsePacket } from './packet.ts';
export type { RunMetrics } from './run/metrics.ts';
export type { BatchSummary } from './run/summary.ts';
export type { TaskResult } from './run/task-result.ts';
export { chunkDocument, type Task } from './tasks/task.ts';
export type { Emission, Tool, ToolContext } from './tool.ts';
