import path from 'node:path';
import type { AgentEndpoint, AgentSpec } from '@gaia-mesh/core/agent/spec.ts';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { nodeIdSchema, toFolderName } from '@gaia-mesh/core/contracts/packet.ts';
import { TRANSPORTS } from '@gaia-mesh/core/contracts/team.ts';
import type { Partner } from '@gaia-mesh/core/contracts/tool.ts';
import { markWorkspaces } from '@gaia-mesh/core/run/run-folder.ts';
import { resolveOutFolder, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { checkSubject, DEFAULT_SUBJECT } from '@gaia-mesh/core/transports/nats/subjects.ts';
import {
  choice,
  commaList,
  defineTable,
  flag,
  option,
  output,
  portFrom,
  seconds,
  storeAddress,
  text,
  texts,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { teamShape } from '@gaia-mesh/evaluation/plan/options.ts';
import { checkEngineOptions } from '@gaia-mesh/evaluation/plan/team-options.ts';
import { startAgent } from '@gaia-mesh/evaluation/teams/start-agent.ts';
import { listUserFiles, register, resolveUserName } from '@gaia-mesh/evaluation/teams/user-files.ts';
import { withNames } from '@gaia-mesh/evaluation/teams/user-options.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { allowKeyHost } from '@gaia-mesh/tools/engines/server-kind.ts';
import { checkToolOptions } from '@gaia-mesh/tools/registry.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { defineOptions } from '../command-line/options.ts';

const jsonObject = z
  .string()
  .transform((typed, context): Record<string, z.output<ReturnType<typeof z.json>>> => {
    try {
      return z.record(z.string(), z.json()).parse(JSON.parse(typed));
    } catch (error) {
      context.addIssue(`expected a JSON object: ${toErrorMessage(error)}`);
      return z.NEVER;
    }
  });

/** Parses partners of the form `id:tool,…`. */
const partners = commaList.transform((list, context) =>
  list.map((entry): Partner => {
    const colon = entry.lastIndexOf(':');
    const [id, tool] = [entry.slice(0, Math.max(colon, 0)), entry.slice(colon + 1)];
    if (!nodeIdSchema.safeParse(id).success || tool === '')
      context.addIssue(`expected id:tool,…, not ${JSON.stringify(entry)}`);
    return { id, tool };
  }),
);

const agentTable = defineTable({
  options: z.object({
    id: option('<id>', "set the agent's id, e.g. 2", nodeIdSchema),
    tool: option('<name|file>', 'run this tool', text),
    port: option('<n>', 'listen on this port of 127.0.0.1 (0: any free)', portFrom(0).optional()),
    transport: option('<name>', 'listen over tcp or nats', choice(TRANSPORTS).default('tcp')),
    natsUrl: teamShape.natsUrl,
    natsSubject: teamShape.natsSubject,
    adapter: option('<spec|file>', 'refuse a hub that speaks another protocol', text.optional()),
    adapterFile: option('<file...>', 'offer your own adapters to the hub', texts.default([])),
    engine: option('<name|file>', 'think with this engine', text.default('extractive')),
    model: teamShape.model,
    host: teamShape.host,
    engineOptions: option('<json>', 'set engine options, e.g. \'{"seed":1}\'', jsonObject.default({})),
    timeout: option('<seconds>', 'stop each request to a model server after this time', seconds.optional()),
    subscribes: option('<types>', "receive these packet types instead of the tool's", commaList.optional()),
    partners: option('<id:tool,…>', 'allow requests to these agents', partners.default([])),
    options: option('<json>', 'set tool options, as in the team file', jsonObject.default({})),
    prompt: option('<file>', "use this prompt instead of the tool's", text.optional()),
    files: option('<dir>', 'read task files from this folder', text.optional()),
    store: option('<file|url>', 'keep attempts in this database', storeAddress.optional()),
    workspace: option('<dir>', 'write to this folder (default: workspaces/<id>)', output.folder.optional()),
    resume: flag('continue with the memory of an agent that died'),
  }),
  common: [
    ...(['id', 'tool', 'port', 'adapter', 'engine', 'model', 'host', 'timeout'] as const),
    ...(['subscribes', 'partners', 'options', 'prompt', 'files', 'store', 'workspace'] as const),
  ],
  needs: [
    {
      options: ['natsUrl', 'natsSubject'],
      needs: ['transport=nats'],
      why: 'an agent listens on a port otherwise',
    },
    { options: ['port'], excludes: ['transport=nats'], why: 'agents on NATS listen on no port' },
    {
      options: ['timeout'],
      needs: ['engine'],
      why: 'it limits the requests to a model server, and the embedded engine sends none',
    },
    {
      options: ['timeout'],
      excludes: ['engine=extractive'],
      why: 'the embedded engine sends no requests',
    },
  ],
});

type AgentOptions = z.output<typeof agentTable.options>;

export function defineAgent(command: Command): void {
  defineOptions(command, agentTable, run);
}

/** Runs one agent until a signal ends it. */
async function run(options: AgentOptions): Promise<void> {
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
function toAgentSpec(options: AgentOptions): AgentSpec {
  for (const file of options.adapterFile) register('adapter', resolveUserPath(file));
  const tool = resolveUserName('tool', options.tool);
  const { adapter, engine } = withNames({ ...options });
  const { id, model, host, timeout, subscribes, store, prompt, files } = options;
  checkToolOptions(id, tool, options.options);
  checkEngineOptions({ model, host }, [{ engine, model, host }], `agent ${id}`);
  if (host !== undefined) allowKeyHost(host);
  return {
    id,
    tool,
    place: resolvePlace(options),
    workspace: resolveWorkspace(options),
    resumes: options.resume,
    adapter,
    engine: {
      name: engine,
      model,
      host,
      options: options.engineOptions,
      timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    },
    subscribes,
    partners: options.partners,
    options: options.options,
    prompt: prompt === undefined ? undefined : resolveUserPath(prompt),
    files: files === undefined ? undefined : resolveUserPath(files),
    store,
    userFiles: listUserFiles({ tool, engine }),
  };
}

function resolveWorkspace({ id, workspace }: AgentOptions): string {
  if (workspace !== undefined) return resolveUserPath(workspace);
  const workspaces = path.join(resolveOutFolder(), 'workspaces');
  markWorkspaces(workspaces);
  return path.join(workspaces, toFolderName(id));
}

/** Returns the agent's endpoint: a port, or its name on a NATS server. */
function resolvePlace(options: AgentOptions): AgentEndpoint {
  const { port, transport, natsUrl, natsSubject = DEFAULT_SUBJECT } = options;
  if (transport === 'nats') {
    return { natsUrl, subject: checkSubject('--nats-subject', natsSubject) };
  }
  if (port === undefined)
    throw new MeshError(
      'usage',
      '--port is required over TCP: expected a port from 0 to 65535 (0: any free port)',
    );
  return { port };
}
