import path from 'node:path';
import type { AgentEndpoint, AgentSpec } from '@gaia-mesh/core/agent/spec.ts';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { nodeIdSchema, toFolderName } from '@gaia-mesh/core/contracts/node-id.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { createUnknownError } from '@gaia-mesh/core/contracts/registry.ts';
import { TRANSPORTS } from '@gaia-mesh/core/contracts/team.ts';
import type { Partner } from '@gaia-mesh/core/contracts/tool.ts';
import { markWorkspaces } from '@gaia-mesh/core/run/run-folder.ts';
import { findDefaultOut, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { checkSubject, DEFAULT_SUBJECT } from '@gaia-mesh/core/transports/nats/subjects.ts';
import { checkEngineOptions } from '@gaia-mesh/evaluation/plan/option-needs.ts';
import { startAgent } from '@gaia-mesh/evaluation/teams/start-agent.ts';
import { listUserFiles, register, resolveUserName } from '@gaia-mesh/evaluation/teams/user-files.ts';
import { withNames } from '@gaia-mesh/evaluation/teams/user-options.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { allowKeyHost } from '@gaia-mesh/tools/engines/server-kind.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { showInHelp } from '../command-line/help.ts';
import { parseList, parsePositiveNumber, parseStoreAddress } from '../command-line/option-values.ts';

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

export function defineAgent(command: Command): void {
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
    .option('--timeout <seconds>', 'stop each request to a model server after this time', parsePositiveNumber)
    .option('--subscribes <types>', "receive these packet types instead of the tool's", parseList)
    .option('--partners <id:tool,…>', 'allow requests to these agents', parseList)
    .option('--options <json>', 'set tool options, as in the team file')
    .option('--prompt <file>', "use this prompt instead of the tool's")
    .option('--files <dir>', 'read task files from this folder')
    .option('--store <file|url>', 'keep attempts in this database', parseStoreAddress)
    .option('--workspace <dir>', 'write to this folder (default: workspaces/<id>)')
    .option('--resume', 'continue with the memory of an agent that died')
    .action(run);
}

/** Runs one agent until a signal ends it. */
async function run(options: AgentCommandOptions): Promise<void> {
  const running = await startAgent(toAgentSpec(options)).catch((error: unknown) => {
    if (!(error instanceof MeshError) || readSystemCode(error.cause) !== 'EADDRINUSE') throw error;
    throw new MeshError('io', `${error.message}; choose another --port`, { cause: error });
  });
  const end = async () => {
    await running.stop();
    process.exit(0);
  };
  // The handlers are installed before the agent announces itself, since the reader may end it at once.
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => void end());
  printError(`agent ${options.id} (${options.tool}) listens on ${running.where}; Ctrl-C ends it`);
  if (!process.env.GAIA_MESH_SECRET) {
    const whoever =
      options.transport === 'nats' ? 'anyone who reaches the NATS server' : 'any process of this machine';
    printError(`GAIA_MESH_SECRET is not set: ${whoever} may use this agent`);
  }
}

/**
 * Parses the options of an agent.
 *
 * @throws MeshError `usage`, naming the invalid option
 */
function toAgentSpec(options: AgentCommandOptions): AgentSpec {
  const id = nodeIdSchema.safeParse(options.id);
  if (!id.success) throw new MeshError('usage', `--id: ${formatIssues(id.error)}`);
  for (const file of options.adapterFile ?? []) register('adapter', resolveUserPath(file));
  const tool = resolveUserName('tool', options.tool);
  const { adapter, engine } = withNames({ ...options });
  const { model, host, timeout, subscribes, store, prompt, files } = options;
  checkEngineOptions({ model, host }, [{ engine, model, host }], `agent ${id.data}`);
  if (host !== undefined) allowKeyHost(host);
  return {
    id: id.data,
    tool,
    place: resolvePlace(options),
    workspace: resolveWorkspace(options),
    resumes: options.resume === true,
    adapter,
    engine: {
      name: engine,
      model,
      host,
      options: parseJsonOption('--engine-options', options.engineOptions),
      timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    },
    subscribes,
    partners: parsePartners(options.partners),
    options: parseJsonOption('--options', options.options),
    prompt: prompt === undefined ? undefined : resolveUserPath(prompt),
    files: files === undefined ? undefined : resolveUserPath(files),
    store,
    userFiles: listUserFiles({ tool, engine }),
  };
}

function resolveWorkspace({ id, workspace }: AgentCommandOptions): string {
  if (workspace !== undefined) return resolveUserPath(workspace);
  const workspaces = path.join(findDefaultOut(), 'workspaces');
  markWorkspaces(workspaces);
  return path.join(workspaces, toFolderName(id));
}

/** Returns the agent's endpoint: a port, or its name on a NATS server. */
function resolvePlace(options: AgentCommandOptions): AgentEndpoint {
  const { port, transport, natsUrl, natsSubject = DEFAULT_SUBJECT } = options;
  if (transport === 'nats') {
    return { natsUrl, subject: checkSubject('--nats-subject', natsSubject) };
  }
  if (transport !== 'tcp') throw createUnknownError('transport', transport, TRANSPORTS);
  if (port === undefined || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new MeshError('usage', '--port: expected a port from 0 to 65535');
  }
  return { port };
}

/** Parses partners of the form `id:tool,…`. */
function parsePartners(list: readonly string[] = []): Partner[] {
  return list.map((entry) => {
    const colon = entry.lastIndexOf(':');
    const [id, tool] = [entry.slice(0, Math.max(colon, 0)), entry.slice(colon + 1)];
    if (!nodeIdSchema.safeParse(id).success || tool === '') {
      throw new MeshError('usage', `--partners: expected id:tool,…, not ${JSON.stringify(entry)}`);
    }
    return { id, tool };
  });
}

function parseJsonOption(
  name: string,
  text: string | undefined,
): Record<string, z.infer<ReturnType<typeof z.json>>> {
  if (text === undefined) return {};
  try {
    return z.record(z.string(), z.json()).parse(JSON.parse(text));
  } catch (error) {
    throw new MeshError('usage', `${name}: expected a JSON object: ${toErrorMessage(error)}`, {
      cause: error,
    });
  }
}
