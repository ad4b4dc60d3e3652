import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { shortenPath } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { RecordedReplies } from '@gaia-mesh/evaluation/serve/recorded-replies.ts';
import { type ServeOptions, servePlan, serveTable } from '@gaia-mesh/evaluation/serve/serve-plan.ts';
import { offerTeam, type Serving, serveOffer } from '@gaia-mesh/evaluation/serve/serve-team.ts';
import { ServedRecording } from '@gaia-mesh/evaluation/serve/served-recording.ts';
import { ServedTeam } from '@gaia-mesh/evaluation/serve/served-team.ts';
import { createStyles, print, printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { createAlarms } from '@gaia-mesh/evaluation/terminal/progress.ts';
import { toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';
import { serveStdio } from '@gaia-mesh/stacks/mcp/stdio/bare-server.ts';
import type { Command } from 'commander';
import { EXIT } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { defineOptions } from '../command-line/options.ts';
import { runExporter } from '../command-line/otlp-option.ts';

type ServePlan = Awaited<ReturnType<typeof servePlan>>;

/** Time in which the last answers of ended tasks reach their clients, in milliseconds. */
const LAST_ANSWERS_MS = 100;

/** Maximum characters of a note about one request, and kinds of requests that are listed. */
const MAX_NOTE = 600;
const MAX_KINDS = 12;
const LOOPBACK = '127.0.0.1';
/** Minimum length of a token; shorter ones can be guessed. */
const MIN_TOKEN_CHARACTERS = 16;

export function serve(command: Command): void {
  const rules = RecordedReplies.rules.map((rule) => `  - ${rule}`).join('\n');
  defineOptions(command, serveTable, run).addHelpText(
    'after',
    `\nWith --recording, requests are the same if they differ only in these:\n${rules}\n`,
  );
}

/** Serves a team, or a recording in its place, to clients until Ctrl-C. */
async function run(options: ServeOptions): Promise<void> {
  const token = resolveToken(options);
  if (options.recording !== undefined) return serveRecording(options, options.recording, token);
  const exportRun = await runExporter(options.otlp);
  const plan = await servePlan(options);
  if (!options.quiet) for (const line of plan.models) printError(line);
  const interruption = handleInterrupt('the server');
  const { signal } = interruption;
  const { out } = plan.planned;
  const alarms = createAlarms({ say: printError, styles: createStyles(process.stderr) });
  const served = await ServedTeam.start(plan, {
    observer: {
      event(event) {
        alarms.event?.(event);
        if (options.quiet || event.event !== 'task_ended') return;
        const { task_id, status, reason, elapsed_ms } = event;
        const why = reason === undefined ? '' : `: ${toOneLine(reason, 120)}`;
        printError(`${task_id} ${status} after ${(elapsed_ms / 1000).toFixed(1)} s${why}`);
      },
    },
    signal,
  });
  let serving: Serving | undefined;
  try {
    const offer = offerTeam(served, plan, token !== undefined);
    serving = await openServer(offer, options, token);
    announceTeam(plan, options, serving, token);
    await awaitEnd(offer, options, interruption);
    await served.settled();
    await delay(LAST_ANSWERS_MS);
  } finally {
    await serving?.close();
    const metrics = await served.close();
    if (served.unsaved !== undefined) {
      printError(`gaia-mesh: ${served.unsaved.message}`);
      process.exitCode = EXIT.failed;
    }
    if (!options.quiet)
      printError(
        `${metrics.answered} of ${metrics.tasks} tasks were answered. See ${shortenPath(path.join(out, 'metrics.json'))}`,
      );
    // A team without any task has nothing to export.
    if (metrics.tasks > 0) await exportRun(served.archiveFile);
  }
}

async function serveRecording(options: ServeOptions, file: string, token: string | undefined): Promise<void> {
  const name = path.basename(file);
  const note = (text: string) => {
    if (!options.quiet) printError(toOneLine(text, MAX_NOTE));
  };
  const served = await ServedRecording.load(resolveUserPath(file), { isDelayed: options.delay, note });
  const asked = { mcp: options.mcp !== undefined, a2a: options.a2a };
  const offer = served.offer(asked, token !== undefined);
  const interruption = handleInterrupt('the server');
  const serving = await openServer(offer, options, token);
  try {
    const kinds = [...served.counts].map(([what, count]) => `${toOneLine(what, 60)} ${count}`);
    const more = kinds.length > MAX_KINDS ? ', …' : '';
    announce(options, serving, token, {
      name: toOneLine(name, 60),
      lines: [`Recorded requests: ${kinds.slice(0, MAX_KINDS).join(', ')}${more}`],
    });
    await awaitEnd(offer, options, interruption);
    await delay(LAST_ANSWERS_MS);
  } finally {
    await serving?.close();
  }
  const { same, byRule, missed } = served.used;
  const was = (count: number) => (count === 1 ? 'was' : 'were');
  printError(
    `${same} request${same === 1 ? '' : 's'} ${was(same)} recorded, ${byRule} ${byRule === 1 ? 'is' : 'are'} the same by rule, ${missed} ${was(missed)} not recorded`,
  );
  if (missed > 0) process.exitCode = EXIT.failed;
}

type Offer = ReturnType<typeof offerTeam>;

/** Serves over HTTP; undefined if the one client is on standard input and output. */
async function openServer(
  offer: Offer,
  options: ServeOptions,
  token: string | undefined,
): Promise<Serving | undefined> {
  if (options.mcp === 'stdio' && !options.a2a) return undefined;
  try {
    return await serveOffer(offer, options, token);
  } catch (error) {
    throw explainPortFault(error, options);
  }
}

/** Waits for the end: over stdio the client closes its pipe; over HTTP the user ends the server. */
async function awaitEnd(
  { mcp }: Offer,
  { mcp: how }: ServeOptions,
  interruption: AbortController,
): Promise<void> {
  const { signal } = interruption;
  const interrupted = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  if (how !== 'stdio' || mcp === undefined) {
    await interrupted;
    return;
  }
  await Promise.race([interrupted, serveStdio(mcp, process.stdin, process.stdout)]);
  process.stdin.destroy();
  // The client that waited for the remaining tasks is gone.
  if (!signal.aborted) interruption.abort(new MeshError('interrupted', 'the client is gone'));
}

/** The name of the served team or recording, and lines about it. */
interface Announced {
  readonly name: string;
  readonly lines: readonly string[];
}

function announceTeam(
  plan: ServePlan,
  options: ServeOptions,
  serving: Serving | undefined,
  token: string | undefined,
): void {
  const { tasks, waiting, bytes } = plan.limits;
  const { team } = plan.planned;
  announce(options, serving, token, {
    name: team.name,
    lines: [
      `Team ${team.name}: ${team.agents.length} agents are up.`,
      `Limits ${tasks} tasks at once, ${waiting} more wait; ${bytes} bytes a question`,
    ],
  });
}

function announce(
  { json, listen, mcp: how, token: variable }: ServeOptions,
  serving: Serving | undefined,
  token: string | undefined,
  { name, lines: [first = '', ...others] }: Announced,
): void {
  // With stdio, standard output is the client's pipe.
  const say = how === 'stdio' ? printError : print;
  const { url, mcp, card } = serving ?? {};
  // A user's own token is never printed.
  const isOwn = typeof variable === 'string';
  if (json) {
    const shown = isOwn ? null : (token ?? null);
    say(JSON.stringify({ team: name, url, mcp, card, token: shown }));
    return;
  }
  const words = isOwn ? `that of ${variable}` : (token ?? 'none: any user of this machine may ask questions');
  say(first);
  if (how === 'stdio') say('  MCP    over standard input and output');
  if (mcp !== undefined) say(`  MCP    ${mcp}`);
  if (card !== undefined) say(`  A2A    ${card}  (JSON-RPC)`);
  if (serving !== undefined) say(`  Token  ${words}`);
  for (const line of others) say(`  ${line}`);
  if (listen !== LOOPBACK)
    printError('Without TLS, anyone who can read this network can read questions, answers and the token.');
  if (how !== 'stdio') say('Ctrl-C ends it.');
}

/**
 * Returns the token of the server.
 *
 * @throws MeshError `usage` for a token that is missing or can be guessed, and for an address that others reach without one
 */
function resolveToken({ token, listen, mcp, a2a }: ServeOptions): string | undefined {
  if (mcp === 'stdio' && !a2a) return undefined;
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

function explainPortFault(error: unknown, { listen, port }: ServeOptions): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return new MeshError(
      'io',
      `port ${port} or ${port + 1} of ${listen} is in use: choose another with --port, or 0 for any free ones`,
    );
  if (code === 'EADDRNOTAVAIL')
    return new MeshError('usage', `--listen ${listen} is not an address of this machine`);
  return error;
}
