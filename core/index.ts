/** The public names of the core: what adapters, tools and engines are written against, and the hub. */
export type { AgentSpec } from './agent/spec.ts';
export type { AdapterSession, Codec, ProtocolAdapter } from './contracts/adapter.ts';
export type { Engine, EngineWork, ModelRequest } from './contracts/engine.ts';
export { type ErrorCode, MeshError } from './contracts/errors.ts';
export { measureLine } from './contracts/ledger.ts';
export {
  type JsonObject,
  type JsonValue,
  type Packet,
  type PacketHead,
  parsePacket,
} from './contracts/packet.ts';
export { chunkDocument } from './contracts/task.ts';
export type { Emission, Tool, ToolContext } from './contracts/tool.ts';
export type { MeshNode } from './hub/link.ts';
export { MeshNetwork, type MeshNetworkOptions } from './hub/mesh-network.ts';
export type { MeshObserver } from './hub/mesh-observer.ts';
export { createRouter } from './hub/routing.ts';
export type { TaskRequest } from './hub/tasks/open-tasks.ts';
