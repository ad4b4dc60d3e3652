import type net from 'node:net';
import { Agent } from '@gaia-mesh/core/agent/agent.ts';
import { liar } from '@gaia-mesh/core/agent/lies.ts';
import { type AgentPlace, type AgentSpec, agentSpecSchema } from '@gaia-mesh/core/agent/spec.ts';
import { Workspace } from '@gaia-mesh/core/agent/workspace.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { defined } from '@gaia-mesh/core/system/defined.ts';
import { inheritedListen, tcpListen } from '@gaia-mesh/core/transports/tcp/tcp-transport.ts';
import type { Listen } from '@gaia-mesh/core/transports/transport.ts';
import { secretIn } from '@gaia-mesh/core/wire/run-secret.ts';
import { adapterNamed } from '@gaia-mesh/protocols/registry.ts';
import type { ModelAbilities } from '@gaia-mesh/tools/engines/abilities/model-abilities.ts';
import { modelAbilities } from '@gaia-mesh/tools/engines/abilities/registry.ts';
import type { Permits } from '@gaia-mesh/tools/engines/permits.ts';
import { checkKey, engineNamed } from '@gaia-mesh/tools/engines/registry.ts';
import { promptNamed, promptsWith } from '@gaia-mesh/tools/prompts.ts';
import { toolNamed } from '@gaia-mesh/tools/registry.ts';
import { toolServices } from './tool-services.ts';
import { register } from './user-files.ts';

/**
 * Starts the agent that a spec describes, in this process. Every run starts several: what few of them need is loaded where it is needed.
 *
 * @param permits who may ask a model server when; without it, this process alone decides
 * @param opened the port that it listens on, where its launcher opened it
 * @throws MeshError `usage` and `config` for what the spec names and is not there, `io` when it cannot listen there
 */
export async function startAgent(spec: AgentSpec, permits?: Permits, opened?: net.Server): Promise<Agent> {
  const { id, engine: chosen, place, ...rest } = agentSpecSchema.parse(spec);
  for (const { kind, file } of rest.userFiles) register(kind, file);
  const tool = await toolNamed(rest.tool, toolServices);
  // An unknown one is better refused here than by every hub.
  if (rest.adapter !== undefined) await adapterNamed(rest.adapter);
  const prompt = rest.prompt === undefined ? promptNamed : promptsWith(rest.prompt);
  const secret = secretIn(process.env);
  const { name, model, host, options, timeoutMs } = chosen;
  const where = defined({ host, model });
  checkKey(name, where);
  const engine = await engineNamed(name, {
    ...where,
    ...defined({ timeoutMs, permits }),
    options,
    askAbilities: () => abilitiesOf(name, where),
    prompts: prompt,
  });
  const { subscribes = [], partners, resumes, lies } = rest;
  const branched =
    rest.branches === undefined
      ? {}
      : (await import('./branching.ts')).branching(rest.branches, id, engine, prompt);
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
    ...(lies === undefined ? {} : { rewrite: liar(lies, workspace) }),
    ...branched,
    listen: opened === undefined ? await listenAt(place, id) : inheritedListen(opened),
    secret,
    adapter: rest.adapter,
    resolveAdapter: adapterNamed,
  });
}

/** A server that cannot be asked says nothing: the question itself will tell. */
async function abilitiesOf(
  engine: string,
  of: { host?: string; model?: string },
): Promise<ModelAbilities | undefined> {
  try {
    return await modelAbilities(engine, of);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return undefined;
  }
}

async function listenAt(place: AgentPlace, node: string): Promise<Listen> {
  if ('port' in place) return tcpListen(place.port);
  const { natsAddress } = await import('@gaia-mesh/core/transports/nats/nats-address.ts');
  const { natsListen } = await import('@gaia-mesh/core/transports/nats/nats-listen.ts');
  const address = natsAddress(place.natsUrl, process.env);
  return natsListen({ address, mesh: place.subject, node });
}
