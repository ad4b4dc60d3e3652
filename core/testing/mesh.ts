import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { Agent } from '../agent/agent.ts';
import { Workspace } from '../agent/workspace.ts';
import type { ProtocolAdapter } from '../contracts/adapter.ts';
import type { Engine } from '../contracts/engine.ts';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { MAX_FRAME_BYTES } from '../contracts/limits.ts';
import { parsePacket } from '../contracts/packet.ts';
import type { Tool } from '../contracts/tool.ts';
import type { DeliveryStrategy } from '../hub/delivery/delivery-strategy.ts';
import type { MeshNode } from '../hub/link.ts';
import { MeshNetwork, type MeshNetworkOptions } from '../hub/mesh-network.ts';
import type { MeshObserver } from '../hub/mesh-observer.ts';
import { createRouter, type Routing } from '../hub/routing.ts';
import { createTcpListen } from '../transports/tcp/tcp-transport.ts';
import { PREFIX_BYTES } from '../wire/frame.ts';

/**
 * The simplest possible adapter, unknown to hub and agents: it has no head of its own and writes plain JSON
 * (MP-32).
 */
export const plain: ProtocolAdapter = {
  name: 'plain',
  open() {
    const encode = (value: object) => Buffer.from(JSON.stringify(value));
    return {
      encode,
      decode(blob) {
        try {
          return parsePacket(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(blob)));
        } catch (error) {
          throw new MeshError('packet', toErrorMessage(error), { cause: error });
        }
      },
      headerSize: (packet) => PREFIX_BYTES + encode({ ...packet, payload: {} }).length - encode({}).length,
    };
  },
};

const noEngine: Engine = {
  name: 'none',
  tokenSource: 'embedded',
  perform: () => Promise.reject(new Error('these tools think for themselves')),
};

/** Builds a tool from a function. */
export function toolOf(accepts: string, emits: string, run: Tool['run']): Tool {
  return { name: `${accepts}-to-${emits}`, description: '', accepts: [accepts], emits: [emits], run };
}

export interface MeshOptions {
  readonly adapter?: ProtocolAdapter;
  readonly routing?: Routing;
  readonly observer?: Partial<MeshObserver>;
  /** Callable agents by the caller's position in the list. */
  readonly mayCall?: Readonly<Record<string, readonly string[]>>;
  /** Ids of the agents, instead of their positions. */
  readonly ids?: readonly string[];
  /** Additional nodes, which the test serves itself. */
  readonly nodes?: readonly MeshNode[];
  readonly maxFrameBytes?: number;
  readonly delivery?: DeliveryStrategy;
  readonly isReturning?: (id: string) => boolean;
}

/**
 * Starts a mesh of agents in this process over real connections: agent `i` has the i-th tool, and the last
 * one is the final one. It is torn down when the test is over.
 */
export async function startMesh(tools: readonly Tool[], options: MeshOptions = {}) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-hub-'));
  const { adapter = plain, mayCall = {}, ids = tools.map((_, index) => String(index)) } = options;
  const idOf = (index: number) => ids[index] ?? '';
  const agents = await Promise.all(
    tools.map((tool, index) =>
      Agent.listen({
        id: idOf(index),
        tool,
        engine: noEngine,
        subscribes: tool.accepts,
        // As in the launcher, rights are stated once.
        partners: (mayCall[index] ?? []).map((id) => ({ id, tool: tools[ids.indexOf(id)]?.name ?? '' })),
        options: {},
        files: undefined,
        store: undefined,
        prompt: (name) => name,
        workspace: new Workspace(path.join(folder, idOf(index)), {
          id: idOf(index),
          tool: tool.name,
          engine: 'none',
        }),
        listen: createTcpListen(0),
        secret: 'a secret',
        adapter: undefined,
        resolveAdapter: async () => adapter,
      }),
    ),
  );
  const meshOptions: MeshNetworkOptions = {
    runId: 'test',
    adapter,
    secret: 'a secret',
    nodes: [
      ...agents.map((agent, index) => ({
        id: idOf(index),
        tool: tools[index]?.name ?? '',
        port: agent.port,
        secret: 'a secret',
        mayCall: mayCall[index],
      })),
      ...(options.nodes ?? []),
    ],
    final: idOf(tools.length - 1),
    router: createRouter(options.routing ?? 'broadcast'),
    maxFrameBytes: options.maxFrameBytes ?? MAX_FRAME_BYTES,
    observer: options.observer,
    delivery: options.delivery,
    isReturning: options.isReturning,
  };
  const network = await MeshNetwork.connect(meshOptions);
  onTestFinished(async () => {
    network.close();
    await Promise.all(agents.map((agent) => agent.stop()));
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = (
    taskId: string,
    payload = {},
    timeoutMs = 20_000,
    signal: AbortSignal = new AbortController().signal,
  ) => network.runTask({ taskId, payload, timeoutMs }, signal);
  return { network, agents, ask, folder };
}
