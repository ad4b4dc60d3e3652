import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { shortenPath } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { type ServeCommandOptions, servePlan } from '@gaia-mesh/evaluation/serve/serve-plan.ts';
import { createTeamServer, type Serving, serveTeam } from '@gaia-mesh/evaluation/serve/serve-team.ts';
import { ServedTeam } from '@gaia-mesh/evaluation/serve/served-team.ts';
import { createStyles, print, printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { createAlarms } from '@gaia-mesh/evaluation/terminal/progress.ts';
import { toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';
import { serveStdio } from '@gaia-mesh/stacks/mcp/stdio/bare-server.ts';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { showInHelp } from '../command-line/help.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { parseList, parsePositiveInteger, parseStoreAddress } from '../command-line/option-values.ts';
import { type OtlpOption, runExporter } from '../command-line/otlp-option.ts';
import { addTeamOptions } from '../command-line/run-options.ts';

type ServePlan = Awaited<ReturnType<typeof servePlan>>;

/** Time in which the last answers of ended tasks reach their clients, in milliseconds. */
const LAST_ANSWERS_MS = 100;

const LOOPBACK = '127.0.0.1';
const DEFAULT_PORT = 7700;
const DEFAULT_BYTES = 1024 * 1024;
const DEFAULT_WAITING = 16;
/** Minimum length of a token; shorter ones can be guessed. */
const MIN_TOKEN_CHARACTERS = 16;

export function serve(command: Command): void {
  showInHelp(command, [
    'team',
    'mcp',
    'a2a',
    'port',
    'listen',
    'token',
    'document',
    'adapter',
    'engine',
    'model',
    'base-url',
    'timeout',
    'out',
    'json',
    'quiet',
  ]);
  command
    .option('--team <name|file>', 'choose the team of agents', 'pipeline')
    .addOption(
      new Option('--mcp <how>', 'serve MCP over HTTP or standard input and output').choices([
        'http',
        'stdio',
      ]),
    )
    .option('--a2a', 'serve A2A over JSON-RPC, REST and gRPC (default: both)')
    .option('--port <n>', 'listen on this port (gRPC: the next; 0: any)', parsePortNumber, DEFAULT_PORT)
    .option('--listen <address>', 'listen on this address (others than this machine need --token)', LOOPBACK)
    .option('--token <variable>', "read the clients' token from this environment variable")
    .option('--no-token', 'let every program on this machine ask')
    .option('--document <file>', 'answer about this document when clients send none')
    .option('--task <name|folder>', "answer about this task's document when clients send none")
    .option('--concurrency <k>', 'run this many tasks at once (default: 4 or 1)', parsePositiveInteger)
    .option(
      '--waiting <n>',
      'refuse further tasks when this many wait',
      parsePositiveInteger,
      DEFAULT_WAITING,
    )
    .option(
      '--max-bytes <n>',
      'limit the bytes of a question with its document',
      parsePositiveInteger,
      DEFAULT_BYTES,
    )
    .option('--push-to <hosts>', 'allow webhooks to these hosts beside this machine', parseList, [])
    .option('--out <dir>', 'write results to this folder (default: the project root)');
  addTeamOptions(command)
    .option('--store <file|url>', 'keep attempts and gap records in this database', parseStoreAddress)
    .option('--json', 'print addresses and token as JSON')
    .option('--quiet', 'print only what needs attention')
    .action(run);
}

/** Keeps a team running and lets it answer clients until Ctrl-C. */
async function run(options: ServeCommandOptions & OtlpOption): Promise<void> {
  const token = resolveToken(options);
  const exportRun = await runExporter(options);
  const plan = await servePlan(options);
  const interruption = handleInterrupt('the server');
  const { signal } = interruption;
  const { out } = plan.planned;
  const alarms = createAlarms({ say: printError, styles: createStyles(process.stderr) });
  const served = await ServedTeam.start({
    planned: plan.planned,
    limits: plan.limits,
    document: plan.document,
    store: options.store ?? path.join(out, 'store', 'attempts.sqlite'),
    portBase: options.portBase,
    observer: {
      event(event) {
        alarms.event?.(event);
        if (options.quiet === true || event.event !== 'task_ended') return;
        const { task_id, status, reason, elapsed_ms } = event;
        const why = reason === undefined ? '' : `: ${toOneLine(reason, 120)}`;
        printError(`${task_id} ${status} after ${(elapsed_ms / 1000).toFixed(1)} s${why}`);
      },
    },
    signal,
  });
  let serving: Serving | undefined;
  try {
    if (plan.a2a || plan.mcp === 'http') {
      serving = await serveTeam(served, {
        description: plan.description,
        version: packageVersion,
        token,
        limits: plan.limits,
        mcp: plan.mcp === 'http',
        a2a: plan.a2a,
        host: options.listen,
        port: options.port,
        pushTo: options.pushTo,
      }).catch((error: unknown) => {
        throw explainPortFault(error, options);
      });
    }
    announce(plan, options, serving, token);
    await awaitEnd(plan, served, interruption);
    await served.settled();
    await delay(LAST_ANSWERS_MS);
  } finally {
    await serving?.close();
    const metrics = await served.close();
    if (options.quiet !== true)
      printError(
        `${metrics.answered} of ${metrics.tasks} tasks were answered. See ${shortenPath(path.join(out, 'metrics.json'))}`,
      );
    // A team without any task has nothing to export.
    if (metrics.tasks > 0) await exportRun(served.archiveFile);
  }
}

/** Waits for the end: over stdio the client closes its pipe; over HTTP the user ends the server. */
async function awaitEnd(plan: ServePlan, served: ServedTeam, interruption: AbortController): Promise<void> {
  const { signal } = interruption;
  const interrupted = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  if (plan.mcp !== 'stdio') {
    await interrupted;
    return;
  }
  const { description } = plan;
  const mcp = createTeamServer(served, { description, version: packageVersion });
  await Promise.race([interrupted, serveStdio(mcp, process.stdin, process.stdout)]);
  process.stdin.destroy();
  // The client that waited for the remaining tasks is gone.
  if (!signal.aborted) interruption.abort(new MeshError('interrupted', 'the client is gone'));
}

function announce(
  plan: ServePlan,
  { json, listen, token: variable }: ServeCommandOptions,
  serving: Serving | undefined,
  token: string | undefined,
): void {
  // With stdio, standard output is the client's pipe.
  const say = plan.mcp === 'stdio' ? printError : print;
  const { url, mcp, card, grpc } = serving ?? {};
  // A user's own token is never printed.
  const isOwn = typeof variable === 'string';
  if (json === true) {
    const shown = isOwn ? null : (token ?? null);
    say(JSON.stringify({ team: plan.planned.team.name, url, mcp, card, grpc, token: shown }));
    return;
  }
  const words = isOwn ? `that of ${variable}` : (token ?? 'none: any user of this machine may ask questions');
  const { tasks, waiting, bytes } = plan.limits;
  say(`Team ${plan.planned.team.name}: ${plan.planned.team.agents.length} agents are up.`);
  if (plan.mcp === 'stdio') say('  MCP    over standard input and output');
  if (mcp !== undefined) say(`  MCP    ${mcp}`);
  if (card !== undefined) say(`  A2A    ${card}  (JSON-RPC, REST; gRPC at ${grpc})`);
  if (serving !== undefined) say(`  Token  ${words}`);
  say(`  Limits ${tasks} tasks at once, ${waiting} more wait; ${bytes} bytes a question`);
  if (listen !== LOOPBACK)
    printError('Without TLS, anyone who can read this network can read questions, answers and the token.');
  if (plan.mcp !== 'stdio') say('Ctrl-C ends it.');
}

/**
 * Returns the token of the server.
 *
 * @throws MeshError `usage` for a token that is missing or can be guessed, and for a host without one
 */
function resolveToken({ token, listen, mcp, a2a }: ServeCommandOptions): string | undefined {
  if (mcp === 'stdio' && a2a !== true) return undefined;
  if (listen !== LOOPBACK && (token === undefined || token === false)) {
    throw new MeshError(
      'usage',
      `--listen ${listen}: others can reach it, so name the variable with a token of yours (--token GAIA_MESH_TOKEN)`,
    );
  }
  if (/^(0\.0\.0\.0|::)$/.test(listen))
    throw new MeshError('usage', `--listen ${listen}: name the one address that clients use`);
  if (token === false) return undefined;
  if (token === undefined) return randomBytes(24).toString('base64url');
  const value = process.env[token]?.trim() ?? '';
  if (value.length < MIN_TOKEN_CHARACTERS) {
    throw new MeshError(
      'usage',
      `--token ${token.slice(0, 64)}: expected the name of an environment variable with at least ${MIN_TOKEN_CHARACTERS} characters, got ${value.length}`,
    );
  }
  return value;
}

function explainPortFault(error: unknown, { listen, port }: ServeCommandOptions): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return new MeshError(
      'usage',
      `port ${port} or ${port + 1} of ${listen} is in use: choose another with --port, or 0 for any free ones`,
    );
  if (code === 'EADDRNOTAVAIL')
    return new MeshError('usage', `--listen ${listen} is not an address of this machine`);
  return error;
}

function parsePortNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < 0 || value > 65_534)
    throw new InvalidArgumentError('expected a port from 0 to 65534.');
  return value;
}
