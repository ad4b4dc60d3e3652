import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Agent } from '@gaia-mesh/core/agent/agent.ts';
import { resolveTaskFolder } from '@gaia-mesh/core/agent/task-files.ts';
import { Workspace } from '@gaia-mesh/core/agent/workspace.ts';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { type JsonObject, type Packet, toFolderName } from '@gaia-mesh/core/contracts/packet.ts';
import { MeshNetwork } from '@gaia-mesh/core/hub/mesh-network.ts';
import { createRouter, type Routing } from '@gaia-mesh/core/hub/routing.ts';
import { plain } from '@gaia-mesh/core/testing/mesh.ts';
import { createTcpListen } from '@gaia-mesh/core/transports/tcp/tcp-transport.ts';
import { onTestFinished } from 'vitest';
import type { EngineOptions } from '../../engines/engine-options.ts';
import { loadEngine } from '../../engines/registry.ts';
import { loadTool } from '../../registry.ts';
import type { ToolServices } from '../../tool-services.ts';

/** Time limit of a question, which ends a team that hangs; on a busy machine a working team may take almost as long. */
const PATIENCE_MS = 120_000;

/** One agent of a team under test, as in a team file. */
export interface TestAgent {
  readonly id: string;
  readonly tool: string;
  readonly may_call?: readonly string[];
  readonly options?: JsonObject | undefined;
  /** Replaces the packet types that its tool accepts. */
  readonly subscribes?: readonly string[];
}

/**
 * Starts a team of agents in this process, with real connections and its real `may_call`, for tests of roles. It is stopped when the
 * test is over.
 */
export async function startTeamMesh(options: {
  readonly agents: readonly TestAgent[];
  /** The entry agent; by default the first. */
  readonly entry?: string | undefined;
  /** URL of a scripted model server; by default the embedded engine is used. */
  readonly modelUrl?: string | undefined;
  /** The engine that asks it; by default the one of OpenAI's format. */
  readonly engine?: string;
  readonly engineOptions?: Readonly<Record<string, string | number | boolean>>;
  readonly engineLimits?: Pick<EngineOptions, 'idleMs' | 'timeoutMs' | 'pace'>;
  /** Options that every agent of a team gets, such as `iterations`. */
  readonly teamOptions?: JsonObject;
  /** Prompts by name; by default the shipped ones. */
  readonly prompts?: (name: string) => string;
  /** Files of the task `t`, by name. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Files in agents' workspaces from the start. */
  readonly workspaceFiles?: readonly {
    readonly agent: string;
    readonly name: string;
    readonly text: string;
  }[];
  readonly store?: string;
  readonly services?: ToolServices;
  readonly routing?: Routing;
  /** Called with each packet that the hub relayed, as `from>to type`. */
  readonly onRelayed?: (packet: string) => void;
}) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-team-'));
  // Registered first, so that it runs last, and also for a team that does not start.
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const filesRoot = path.join(folder, 'files');
  const taskFolder = resolveTaskFolder(filesRoot, 't');
  mkdirSync(taskFolder, { recursive: true });
  for (const [name, content] of Object.entries(options.files ?? {})) {
    writeFileSync(path.join(taskFolder, name), content);
  }
  const secret = 'a secret';
  const { prompts = shippedPrompt } = options;
  const { engine: engineName = 'openai', modelUrl, engineLimits } = options;
  const engine = await loadEngine(modelUrl === undefined ? 'extractive' : engineName, {
    ...engineLimits,
    model: 'scripted',
    host: modelUrl,
    options: { max_retries: 1, ...options.engineOptions },
    prompts,
    environment: {},
  });
  const toolOf = new Map(options.agents.map(({ id, tool }) => [id, tool]));
  const agents = await Promise.all(
    options.agents.map(async ({ id, tool: name, may_call = [], options: own = {}, subscribes }) => {
      const tool = await loadTool(name, options.services);
      const workspace = path.join(folder, 'workspaces', toFolderName(id));
      mkdirSync(workspace, { recursive: true });
      for (const file of options.workspaceFiles ?? []) {
        if (file.agent === id) writeFileSync(path.join(workspace, file.name), file.text);
      }
      return Agent.listen({
        id,
        tool,
        engine,
        subscribes: subscribes ?? tool.accepts,
        partners: may_call.map((partner) => ({
          id: partner,
          tool: toolOf.get(partner) ?? '',
          tools: (options.agents.find((agent) => agent.id === partner)?.may_call ?? []).map(
            (other) => toolOf.get(other) ?? '',
          ),
        })),
        options: { ...options.teamOptions, ...own },
        files: filesRoot,
        store: options.store,
        prompt: prompts,
        workspace: new Workspace(workspace, { id, tool: name, engine: engine.name }),
        listen: createTcpListen(0),
        secret,
        adapter: undefined,
        resolveAdapter: async () => plain,
      });
    }),
  );
  const relayed: string[] = [];
  const packets: Packet[] = [];
  const refused: string[] = [];
  const network = await MeshNetwork.connect({
    runId: 'test',
    adapter: watching(packets),
    secret,
    nodes: options.agents.map(({ id, tool, may_call }, index) => ({
      id,
      tool,
      port: agents[index]?.port ?? 0,
      secret,
      mayCall: may_call ?? [],
    })),
    final: options.entry ?? options.agents[0]?.id ?? '',
    router: createRouter(options.routing ?? 'direct'),
    observer: {
      relayed({ packets }) {
        for (const { head } of packets) {
          const packet = `${head.from}>${head.to ?? '*'} ${head.type}`;
          relayed.push(packet);
          options.onRelayed?.(packet);
        }
      },
      refused: (node, reason) => refused.push(`${node}: ${reason}`),
    },
    maxFrameBytes: MAX_FRAME_BYTES,
  });
  onTestFinished(async () => {
    network.close();
    await Promise.all(agents.map((agent) => agent.stop()));
  });
  return {
    /** Returns the packets in the order in which the hub relayed them, as `from>to type`. */
    relayed: () => [...relayed],
    /** Returns the packets that an agent sent, in order. */
    sentBy: (agent: string) => packets.filter(({ from }) => from === agent),
    refused,
    folder,
    network,
    agents,
    ask: (payload: JsonObject, taskId = 't', timeoutMs = PATIENCE_MS) =>
      network.runTask(
        { taskId, payload: { chunks: [], ...payload }, timeoutMs },
        new AbortController().signal,
      ),
  };
}

/** Creates the hub's adapter, which keeps each packet that it reads. */
function watching(packets: Packet[]): ProtocolAdapter {
  return {
    ...plain,
    open(session) {
      const codec = plain.open(session);
      return {
        ...codec,
        decode(blob) {
          const packet = codec.decode(blob);
          packets.push(packet);
          return packet;
        },
      };
    },
  };
}

/** Reads a shipped prompt from its file, because the tools' loader is above the roles. */
function shippedPrompt(name: string): string {
  return readFileSync(new URL(`../../../config/prompts/${name}.md`, import.meta.url), 'utf8');
}
