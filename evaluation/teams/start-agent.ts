import type net from 'node:net';
import { Agent } from '@gaia-mesh/core/agent/agent.ts';
import { createLiar } from '@gaia-mesh/core/agent/lies.ts';
import { type AgentEndpoint, type AgentSpec, agentSpecSchema } from '@gaia-mesh/core/agent/spec.ts';
import { Workspace } from '@gaia-mesh/core/agent/workspace.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import { createTcpListen } from '@gaia-mesh/core/transports/tcp/tcp-transport.ts';
import type { Listen } from '@gaia-mesh/core/transports/transport.ts';
import { readRunSecret } from '@gaia-mesh/core/wire/run-secret.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import type { ModelCapabilities } from '@gaia-mesh/tools/engines/capabilities.ts';
import type { Permits } from '@gaia-mesh/tools/engines/permits.ts';
import { checkServer, loadEngine, queryModelCapabilities } from '@gaia-mesh/tools/engines/registry.ts';
import { createPromptLoader, loadPrompt } from '@gaia-mesh/tools/prompts.ts';
import { loadTool } from '@gaia-mesh/tools/registry.ts';
import { toolServices } from './tool-services.ts';
import { register } from './user-files.ts';

/**
 * Starts the agent that a spec describes, in this process. Every run starts several, so modules that few agents need are loaded
 * on demand.
 *
 * @param permits decides when an agent may ask a model server; by default this process alone decides
 * @param opened the listening socket, if the launcher opened it
 * @throws MeshError `usage` and `config` for names that do not exist, `io` if the port cannot be used
 */
export async function startAgent(spec: AgentSpec, permits?: Permits, opened?: net.Server): Promise<Agent> {
  const { id, engine: chosen, place, ...rest } = agentSpecSchema.parse(spec);
  for (const { kind, file } of rest.userFiles) register(kind, file);
  const tool = await loadTool(rest.tool, toolServices);
  // An unknown adapter is better refused here than by every hub.
  if (rest.adapter !== undefined) await loadAdapter(rest.adapter);
  const prompt = rest.prompt === undefined ? loadPrompt : createPromptLoader(rest.prompt);
  const secret = readRunSecret(process.env);
  const { name, model, host, options, timeoutMs } = chosen;
  const where = omitUndefined({ host, model });
  checkServer(name, where);
  const engine = await loadEngine(name, {
    ...where,
    ...omitUndefined({ timeoutMs, permits }),
    options,
    askCapabilities: () => queryCapabilities(name, where),
    prompts: prompt,
  });
  const { subscribes = [], partners, resumes, lies } = rest;
  const branched =
    rest.branches === undefined
      ? {}
      : (await import('@gaia-mesh/tools/engines/recorded.ts')).createBranching(
          rest.branches,
          id,
          engine,
          prompt,
        );
  const workspace = new Workspace(rest.workspace, { id, tool: tool.name, engine: engine.name }, { resumes });
  return Agent.listen({
    id,
    tool,
    engine,
    subscribes: subscribes.length > 0 ? subscribes : tool.accepts,
    partners,
    options: rest.options,
    files: rest.files,
    store: rest.store,
    prompt,
    workspace,
    rewrite: lies === undefined ? undefined : createLiar(lies, workspace),
    ...branched,
    listen: opened === undefined ? await openListen(place, id) : createTcpListen(opened),
    secret,
    adapter: rest.adapter,
    resolveAdapter: loadAdapter,
  });
}

/** Queries the model's capabilities. An unreachable server returns undefined: the question itself will report it. */
async function queryCapabilities(
  engine: string,
  of: { host?: string; model?: string },
): Promise<ModelCapabilities | undefined> {
  try {
    return await queryModelCapabilities(engine, of);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return undefined;
  }
}

async function openListen(endpoint: AgentEndpoint, node: string): Promise<Listen> {
  if ('port' in endpoint) return createTcpListen(endpoint.port);
  const { resolveNatsAddress } = await import('@gaia-mesh/core/transports/nats/nats-address.ts');
  const { createNatsListen } = await import('@gaia-mesh/core/transports/nats/nats-transport.ts');
  const address = resolveNatsAddress(endpoint.natsUrl, process.env);
  return createNatsListen({ address, mesh: endpoint.subject, node });
}
