import path from 'node:path';
import type { AgentPlace, AgentSpec } from '@gaia-mesh/core/agent/spec.ts';
import { MeshError, messageOf, systemCodeOf } from '@gaia-mesh/core/contracts/errors.ts';
import { folderNameOf, nodeIdSchema } from '@gaia-mesh/core/contracts/node-id.ts';
import { issuesOf } from '@gaia-mesh/core/contracts/packet.ts';
import { unknown } from '@gaia-mesh/core/contracts/registry.ts';
import { TRANSPORTS } from '@gaia-mesh/core/contracts/team.ts';
import type { Partner } from '@gaia-mesh/core/contracts/tool.ts';
import { claimWorkspaces } from '@gaia-mesh/core/run/run-folder.ts';
import { defaultOut, userPath } from '@gaia-mesh/core/system/user-paths.ts';
import { checkedSubject, DEFAULT_SUBJECT } from '@gaia-mesh/core/transports/nats/subjects.ts';
import { startAgent } from '@gaia-mesh/evaluation/teams/start-agent.ts';
import { filesFor, nameOf, register } from '@gaia-mesh/evaluation/teams/user-files.ts';
import { withNames } from '@gaia-mesh/evaluation/teams/user-options.ts';
import { complain } from '@gaia-mesh/evaluation/terminal/print.ts';
import { nameKeyHost } from '@gaia-mesh/tools/engines/servers/server-key.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { showInHelp } from '../command-line/help.ts';
import { listOf, positiveNumber, storeAddress } from '../command-line/option-values.ts';

interface AgentCommandOptions {
  readonly id: string;
  readonly tool: string;
  readonly port?: number;
  readonly transport: string;
  readonly natsUrl?: string;
  readonly natsSubject?: string;
  readonly adapter?: string;
  readonly adapterFile?: readonly string[];
  readonly engine: string;
  readonly model?: string;
  readonly host?: string;
  readonly engineOptions?: string;
  readonly timeout?: number;
  readonly subscribes?: string[];
  readonly partners?: readonly string[];
  readonly options?: string;
  readonly prompt?: string;
  readonly files?: string;
  readonly store?: string;
  readonly workspace?: string;
  readonly resume?: boolean;
}

export function agent(command: Command): void {
  showInHelp(command, [
    'id',
    'tool',
    'port',
    'adapter',
    'engine',
    'model',
    'host',
    'timeout',
    'subscribes',
    'partners',
    'options',
    'prompt',
    'files',
    'store',
    'workspace',
  ]);
  command
    .requiredOption('--id <id>', "set the agent's id, e.g. 2")
    .requiredOption('--tool <name|file>', 'run this tool')
    .option('--port <n>', 'listen on this port of 127.0.0.1 (0: any free)', Number)
    .option('--transport <name>', 'listen over tcp or nats', 'tcp')
    .option('--nats-url <url>', 'connect to this NATS server (default: NATS_URL, else nats://127.0.0.1:4222)')
    .option('--nats-subject <subject>', 'begin NATS subjects with this prefix (default: gaia)')
    .option('--adapter <spec|file>', 'refuse a hub that speaks another protocol')
    .option('--adapter-file <file...>', 'offer your own adapters to the hub')
    .option('--engine <name|file>', 'think with this engine', 'extractive')
    .option('--model <name>', 'use this model of the engine')
    .option('--host <url>', 'connect to the model server at this address')
    .option('--engine-options <json>', 'set engine options, e.g. \'{"seed":1}\'')
    .option('--timeout <seconds>', 'stop each request to a model server after this time', positiveNumber)
    .option('--subscribes <types>', "receive these packet types instead of the tool's", listOf)
    .option('--partners <id:tool,…>', 'allow requests to these agents', listOf)
    .option('--options <json>', 'set tool options, as in the team file')
    .option('--prompt <file>', "use this prompt instead of the tool's")
    .option('--files <dir>', 'read task files from this folder')
    .option('--store <file|url>', 'keep attempts in this database', storeAddress)
    .option('--workspace <dir>', 'write to this folder (default: workspaces/<id>)')
    .option('--resume', 'continue with the memory of an agent that died')
    .action(run);
}

/** Runs one agent until it is told to end by a signal. */
async function run(options: AgentCommandOptions): Promise<void> {
  const running = await startAgent(specOf(options)).catch((error: unknown) => {
    if (!(error instanceof MeshError) || systemCodeOf(error.cause) !== 'EADDRINUSE') throw error;
    throw new MeshError('io', `${error.message}; choose another --port`, { cause: error });
  });
  const end = async () => {
    await running.stop();
    process.exit(0);
  };
  // Before anybody is told that it is up, and may want it to end.
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => void end());
  complain(`agent ${options.id} (${options.tool}) listens on ${running.where}; Ctrl-C ends it`);
  if (!process.env.GAIA_MESH_SECRET) {
    const whoever =
      options.transport === 'nats' ? 'whoever reaches the NATS server' : 'any process of this machine';
    complain(`GAIA_MESH_SECRET is not set: ${whoever} may use this agent`);
  }
}

/** @throws MeshError `usage`, with the option that cannot be taken */
function specOf(options: AgentCommandOptions): AgentSpec {
  const id = nodeIdSchema.safeParse(options.id);
  if (!id.success) throw new MeshError('usage', `--id: ${issuesOf(id.error)}`);
  for (const file of options.adapterFile ?? []) register('adapter', userPath(file));
  const tool = nameOf('tool', options.tool);
  const { adapter, engine } = withNames({ ...options });
  const { model, host, timeout, subscribes, store, prompt, files } = options;
  if (host !== undefined) nameKeyHost(host);
  return {
    id: id.data,
    tool,
    place: placeOf(options),
    workspace: workspaceOf(options),
    resumes: options.resume === true,
    adapter,
    engine: {
      name: engine,
      model,
      host,
      options: jsonOption('--engine-options', options.engineOptions),
      timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    },
    subscribes,
    partners: partnersOf(options.partners),
    options: jsonOption('--options', options.options),
    prompt: prompt === undefined ? undefined : userPath(prompt),
    files: files === undefined ? undefined : userPath(files),
    store,
    userFiles: filesFor({ tool, engine }),
  };
}

function workspaceOf({ id, workspace }: AgentCommandOptions): string {
  if (workspace !== undefined) return userPath(workspace);
  const workspaces = path.join(defaultOut(), 'workspaces');
  claimWorkspaces(workspaces);
  return path.join(workspaces, folderNameOf(id));
}

/** Where it listens: on a port, or for its name on a NATS server. */
function placeOf(options: AgentCommandOptions): AgentPlace {
  const { port, transport, natsUrl, natsSubject = DEFAULT_SUBJECT } = options;
  if (transport === 'nats') {
    return { natsUrl, subject: checkedSubject('--nats-subject', natsSubject) };
  }
  if (transport !== 'tcp') throw unknown('transport', transport, TRANSPORTS);
  if (natsUrl !== undefined || options.natsSubject !== undefined) {
    throw new MeshError('usage', '--nats-url and --nats-subject go with --transport nats');
  }
  if (port === undefined || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new MeshError('usage', '--port: expected a port from 0 to 65535');
  }
  return { port };
}

/** `id:tool,…` */
function partnersOf(list: readonly string[] = []): Partner[] {
  return list.map((entry) => {
    const colon = entry.lastIndexOf(':');
    const [id, tool] = [entry.slice(0, Math.max(colon, 0)), entry.slice(colon + 1)];
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
