import path from 'node:path';
import * as z from 'zod';
import { promptNamed, promptsWith } from '../../config/prompts.ts';
import { defaultOut, userPath } from '../../config/user-paths.ts';
import { Agent } from '../../core/agent/agent.ts';
import type { Listen } from '../../core/agent/listener.ts';
import { Workspace } from '../../core/agent/workspace.ts';
import { MeshError, messageOf, systemCodeOf } from '../../core/errors.ts';
import { natsAddress } from '../../core/nats/nats-address.ts';
import { natsListen } from '../../core/nats/nats-listen.ts';
import { checkedSubject, DEFAULT_SUBJECT } from '../../core/nats/subjects.ts';
import { issuesOf, nodeIdSchema } from '../../core/packet.ts';
import { unknown } from '../../core/registry.ts';
import { claimWorkspaces } from '../../core/run/run-folder.ts';
import { TRANSPORTS } from '../../core/team.ts';
import type { Partner } from '../../core/tool.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { launcherPermits } from '../../tools/engines/permits.ts';
import { checkKey, engineNamed } from '../../tools/engines/registry.ts';
import { toolNamed } from '../../tools/registry.ts';
import { listOf } from '../option-values.ts';
import { loadAdapterFile } from '../own-adapter.ts';

export interface AgentCommandOptions {
  readonly id: string;
  readonly tool: string;
  readonly port?: number;
  readonly transport: string;
  readonly natsUrl?: string;
  readonly natsSubject?: string;
  readonly natsOutboxes?: string;
  readonly adapter?: string;
  readonly adapterFile?: readonly string[];
  readonly engine: string;
  readonly model?: string;
  readonly host?: string;
  readonly engineOptions?: string;
  readonly timeout?: number;
  readonly subscribes?: string;
  readonly partners?: string;
  readonly options?: string;
  readonly prompt?: string;
  readonly files?: string;
  readonly store?: string;
  readonly workspace?: string;
  readonly resume?: boolean;
}

/**
 * Runs one agent until it is told to end: by its launcher's channel where it has one, else by a signal. Under a launcher the
 * terminal's Ctrl-C is not for it: the launcher ends the run in order, and its channel closes even if it is killed.
 */
export async function agent(options: AgentCommandOptions): Promise<void> {
  const isLaunched = process.send !== undefined;
  try {
    const running = await start(options);
    const end = async () => {
      await running.stop();
      process.exit(0);
    };
    // Before anybody is told that it is up, and may want it to end.
    process.on('SIGTERM', () => void end());
    if (isLaunched) {
      process.on('SIGINT', () => undefined);
      process.on('disconnect', () => void end());
      process.send?.({ listening: running.port });
    } else {
      process.on('SIGINT', () => void end());
      console.error(`agent ${options.id} (${options.tool}) listens on ${running.where}; Ctrl-C ends it`);
      if (!process.env.GAIA_MESH_SECRET) {
        const whoever =
          options.transport === 'nats' ? 'whoever reaches the NATS server' : 'any process of this machine';
        console.error(`GAIA_MESH_SECRET is not set: ${whoever} may use this agent`);
      }
    }
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const isPortTaken = systemCodeOf(error.cause) === 'EADDRINUSE';
    if (!isLaunched) {
      throw isPortTaken
        ? new MeshError('io', `${error.message}; choose another --port`, { cause: error })
        : error;
    }
    const hint = '; choose other ports: --port-base N, or --port-base auto for any free ones';
    process.send?.({ failed: isPortTaken ? error.message + hint : error.message });
    process.disconnect?.();
    process.exitCode = 1;
  }
}

async function start(options: AgentCommandOptions): Promise<Agent> {
  const id = nodeIdSchema.safeParse(options.id);
  if (!id.success) throw new MeshError('usage', `--id: ${issuesOf(id.error)}`);
  const { port, listen } = placeOf(options, id.data);
  const tool = await toolNamed(options.tool);
  const own = await Promise.all((options.adapterFile ?? []).map(loadAdapterFile));
  const resolveAdapter = (name: string) => adapterNamed(name, own);
  // An unknown one is better refused here than by every hub.
  if (options.adapter !== undefined) await resolveAdapter(options.adapter);
  const prompt = options.prompt === undefined ? promptNamed : promptsWith(userPath(options.prompt));
  checkKey(options.engine, options.host === undefined ? {} : { host: options.host });
  const engine = await engineNamed(options.engine, {
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.host === undefined ? {} : { host: options.host }),
    options: jsonOption('--engine-options', options.engineOptions),
    ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout * 1000 }),
    prompts: prompt,
    ...(process.send === undefined ? {} : { permits: launcherPermits(process) }),
  });
  const workspaces = path.join(defaultOut(), 'workspaces');
  if (options.workspace === undefined) claimWorkspaces(workspaces);
  const folder = options.workspace ?? path.join(workspaces, id.data);
  const subscribes = listOf(options.subscribes);
  return Agent.listen({
    id: id.data,
    tool,
    engine,
    subscribes: subscribes.length > 0 ? subscribes : tool.accepts,
    partners: partnersOf(options.partners),
    options: jsonOption('--options', options.options),
    files: options.files === undefined ? undefined : userPath(options.files),
    store: options.store,
    prompt,
    workspace: new Workspace(
      userPath(folder),
      { id: id.data, tool: tool.name, engine: engine.name },
      { resumes: options.resume === true },
    ),
    host: '127.0.0.1',
    port,
    ...(listen === undefined ? {} : { listen }),
    secret: process.env.GAIA_MESH_SECRET ?? '',
    adapter: options.adapter,
    resolveAdapter,
  });
}

/** Where it listens: on a port, or for its name on a NATS server. */
function placeOf(options: AgentCommandOptions, id: string): { port: number; listen?: Listen } {
  const { port, transport, natsUrl, natsSubject = DEFAULT_SUBJECT, natsOutboxes } = options;
  if (transport === 'nats') {
    const address = natsAddress(natsUrl, process.env);
    const mesh = checkedSubject('--nats-subject', natsSubject);
    const outboxes = checkedSubject('--nats-outboxes', natsOutboxes ?? natsSubject);
    return { port: 0, listen: natsListen({ address, mesh, node: id, outboxes }) };
  }
  if (transport !== 'tcp') throw unknown('transport', transport, TRANSPORTS);
  if ([natsUrl, options.natsSubject, natsOutboxes].some((option) => option !== undefined)) {
    throw new MeshError('usage', '--nats-url, --nats-subject and --nats-outboxes go with --transport nats');
  }
  if (port === undefined || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new MeshError('usage', '--port: expected a port from 0 to 65535');
  }
  return { port };
}

/** `id:tool,…` */
function partnersOf(list: string | undefined): Partner[] {
  return listOf(list).map((entry) => {
    const [id = '', tool = ''] = entry.split(':');
    if (!nodeIdSchema.safeParse(id).success || tool === '') {
      throw new MeshError('usage', `--partners: expected id:tool,…, not ${JSON.stringify(entry)}`);
    }
    return { id, tool };
  });
}

function jsonOption(
  name: string,
  text: string | undefined,
): Record<string, z.infer<ReturnType<typeof z.json>>> {
  if (text === undefined) return {};
  try {
    return z.record(z.string(), z.json()).parse(JSON.parse(text));
  } catch (error) {
    throw new MeshError('usage', `${name}: expected a JSON object: ${messageOf(error)}`, { cause: error });
  }
}
