import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { createUnknownError } from '@gaia-mesh/core/contracts/registry.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import { checkWritable } from '@gaia-mesh/core/system/files/whole-file.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { listMissingParts } from '@gaia-mesh/core/system/platform.ts';
import { hasNamespaces } from '@gaia-mesh/core/system/process/without-network.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { resolveOutFolder } from '@gaia-mesh/core/system/user-paths.ts';
import { resolveNatsAddress } from '@gaia-mesh/core/transports/nats/nats-address.ts';
import { NatsServer } from '@gaia-mesh/core/transports/nats/nats-server.ts';
import {
  choice,
  defineTable,
  flag,
  option,
  text,
  wholeNumber,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { type TeamOptions, teamShape } from '@gaia-mesh/evaluation/plan/options.ts';
import { checkEngineOptions } from '@gaia-mesh/evaluation/plan/team-options.ts';
import { loadTeam } from '@gaia-mesh/evaluation/teams/load-team.ts';
import { resolveUserName } from '@gaia-mesh/evaluation/teams/user-files.ts';
import { createStyles, print, printJson } from '@gaia-mesh/evaluation/terminal/print.ts';
import { describePeer } from '@gaia-mesh/stacks/languages/installation.ts';
import { findPython } from '@gaia-mesh/tools/compute/python/pyodide-python.ts';
import {
  explainInability,
  formatCapabilities,
  type ModelUse,
} from '@gaia-mesh/tools/engines/capabilities.ts';
import { findInstallation } from '@gaia-mesh/tools/engines/llama/installation.ts';
import { findModels } from '@gaia-mesh/tools/engines/llama/model-files.ts';
import {
  checkServer,
  engineNames,
  loadEngine,
  queryModelCapabilities,
} from '@gaia-mesh/tools/engines/registry.ts';
import { allowKeyHost } from '@gaia-mesh/tools/engines/server-kind.ts';
import { keyVariables } from '@gaia-mesh/tools/keys.ts';
import { loadPrompt } from '@gaia-mesh/tools/prompts.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { EXIT } from '../../command-line/exit-code.ts';
import { loadKeys } from '../../command-line/load-keys.ts';
import { defineOptions } from '../../command-line/options.ts';

interface Finding {
  readonly what: string;
  /** `note` means that a run works, but some feature is not available. */
  readonly status: 'ok' | 'note' | 'bad';
  readonly detail: string;
}

const MIN_FREE_BYTES = 512 * 1024 * 1024;

const doctorTable = defineTable({
  options: z.object({
    engine: option('<name>', 'check the model server of this engine', text.optional()),
    model: option('<name>', 'check this model', text.optional()),
    host: teamShape.host,
    baseUrl: teamShape.baseUrl,
    toolCalls: option(
      '<how>',
      'choose how models call tools',
      choice(['auto', 'native', 'text']).default('auto'),
    ),
    context: option('<tokens>', "set the model's context size", wholeNumber.optional()),
    json: flag('print findings as JSON'),
  }),
  needs: [
    { options: ['baseUrl'], excludes: ['host'], why: 'both name the model server' },
    {
      options: ['model', 'host', 'toolCalls', 'context'],
      needs: ['engine', 'baseUrl'],
      why: 'a model is tried only on the engine that you name',
    },
  ],
});

export function defineDoctor(command: Command): void {
  defineOptions(command, doctorTable, run);
}

/** Checks everything that a run needs, and says how to fix what is missing. Exit code 1 if a run would fail. */
async function run(options: z.output<typeof doctorTable.options>): Promise<void> {
  loadKeys();
  const findings = await Promise.all([
    ...[
      checkSystem(),
      checkNode(),
      checkPorts(),
      checkSandbox(),
      checkOllamaServer(),
      checkNats(process.env),
    ],
    ...[checkModels(), checkKeys(process.env), checkPython(), checkImages(process.env), checkDisk()],
    ...[checkPeer('python'), checkPeer('go')],
    ...(options.engine === undefined && options.baseUrl === undefined ? [] : [checkModel(options)]),
  ]);
  if (options.json) printJson(findings);
  else {
    const { green, yellow, red, bold } = createStyles(process.stdout);
    const mark = { ok: green('✓'), note: yellow('–'), bad: red('✗') };
    print(bold(`Gaia Mesh ${packageVersion}`));
    for (const { what, status, detail } of findings) print(`${mark[status]} ${what.padEnd(16)} ${detail}`);
  }
  if (findings.some((finding) => finding.status === 'bad')) process.exitCode = EXIT.failed;
}

/** Reports features that are missing because this is not Linux. */
function checkSystem(): Finding {
  const lacks = listMissingParts();
  const name = `${os.type()} ${process.arch}`;
  if (lacks.length === 0) return { what: 'system', status: 'ok', detail: name };
  return { what: 'system', status: 'note', detail: `${name}: ${lacks.join('; ')}` };
}

async function checkNode(): Promise<Finding> {
  return { what: 'Node', status: 'ok', detail: `${process.version} (${process.execPath})` };
}

/** Checks that the default team's ports are free. */
async function checkPorts(): Promise<Finding> {
  const team = loadTeam('default');
  const wanted = team.agents.map((agent, index) => agent.port ?? team.port_base + index);
  const taken: number[] = [];
  for (const port of wanted) if (!(await isFree(port))) taken.push(port);
  return taken.length === 0
    ? { what: 'ports', status: 'ok', detail: `${wanted.join(', ')} are free` }
    : {
        what: 'ports',
        status: 'bad',
        detail: `${taken.join(', ')} in use: run with --port-base auto, or another --port-base`,
      };
}

async function isFree(port: number): Promise<boolean> {
  const server = net.createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen({ host: '127.0.0.1', port }, resolve);
    });
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

const NETWORK = {
  held: 'those whose tool needs no network have none (unshare --net)',
  open: 'all may open connections, since no network namespace can be made here (unshare --net)',
};

/** Checks that agents are really confined to their folder. */
async function checkSandbox(): Promise<Finding> {
  const script = "require('node:fs').readFileSync(process.execPath)";
  try {
    await promisify(execFile)(process.execPath, ['--permission', '-e', script], { timeout: 10_000 });
    return { what: 'sandbox', status: 'bad', detail: 'Node’s permission model does not work here' };
  } catch (error) {
    return toErrorMessage(error).includes('ERR_ACCESS_DENIED')
      ? {
          what: 'sandbox',
          status: 'ok',
          detail: `agents read the code and write their own workspace only (node --permission); ${NETWORK[hasNamespaces() ? 'held' : 'open']}`,
        }
      : { what: 'sandbox', status: 'bad', detail: toErrorMessage(error) };
  }
}

async function checkOllamaServer(): Promise<Finding> {
  try {
    const said = await queryModelCapabilities('ollama', {});
    const names = said?.others.slice(0, 5).map(({ name }) => name) ?? [];
    const detail = names.length > 0 ? names.join(', ') : 'no model yet: ollama pull gemma3';
    // A server without models says so; another program at this address says nothing about models.
    if (said !== undefined && said.isThere !== null)
      return { what: 'Ollama', status: 'ok', detail: `${said.url}: ${detail}` };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
  }
  return {
    what: 'Ollama',
    status: 'note',
    detail: 'not running; only needed for --engine ollama (https://ollama.com)',
  };
}

/** Reports whether the library that runs GGUF files is installed, and the number of such files. */
async function checkModels(): Promise<Finding> {
  const { models } = findModels();
  const found = `${models.length} GGUF ${models.length === 1 ? 'file' : 'files'} here (${formatCommandLine('model', ['list'])})`;
  try {
    const { version } = findInstallation();
    return { what: 'models', status: 'ok', detail: `node-llama-cpp ${version} is installed; ${found}` };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return {
      what: 'models',
      status: 'note',
      detail: `only needed for --engine llama: ${formatCommandLine('model', ['install'])}; ${found}`,
    };
  }
}

/** Checks the NATS server that a run over NATS would use; other runs need none. */
async function checkNats(environment: NodeJS.ProcessEnv): Promise<Finding> {
  try {
    const address = resolveNatsAddress(undefined, environment);
    const server = await NatsServer.connect({ address, name: 'gaia-mesh doctor', reconnects: false });
    await server.close();
    return { what: 'NATS', status: 'ok', detail: `a server answers at ${address.shown}` };
  } catch (error) {
    const detail = `${toErrorMessage(error)}; only needed for --transport nats`;
    return { what: 'NATS', status: 'note', detail };
  }
}

/** Reports the Python that runs code of questions. Agents that users write in Python need `python3` in any case. */
async function checkPython(): Promise<Finding> {
  try {
    const { version, guarantees, missing } = await findPython();
    const held = `Python ${version} as WebAssembly, in a sandbox with ${guarantees.length} guarantees`;
    return { what: 'Python', status: 'ok', detail: [held, ...missing].join('; ') };
  } catch (error) {
    return { what: 'Python', status: 'note', detail: toErrorMessage(error) };
  }
}

/** Reports only the names of keys: a key must not appear on a screen. */
async function checkKeys(environment: NodeJS.ProcessEnv): Promise<Finding> {
  const set = keyVariables.filter((name) => (environment[name] ?? '').trim() !== '');
  if (set.length > 0) return { what: 'keys', status: 'ok', detail: `set: ${set.join(', ')}` };
  return {
    what: 'keys',
    status: 'note',
    detail: `none of ${keyVariables.join(', ')} is set, in the environment or in .env: runs continue without these services`,
  };
}

/** Reports the packages for text recognition, or the model that looks at images instead. */
async function checkImages(environment: NodeJS.ProcessEnv): Promise<Finding> {
  const models = ['VISION_BASE_URL', 'OPENAI_API_KEY', 'GEMINI_API_KEY'];
  const model = models.find((name) => (environment[name] ?? '') !== '');
  if (model !== undefined)
    return { what: 'images', status: 'ok', detail: `by a vision model (${model} is set)` };
  const require = createRequire(import.meta.url);
  try {
    for (const name of ['tesseract.js', '@tesseract.js-data/eng']) require.resolve(`${name}/package.json`);
  } catch {
    return {
      what: 'images',
      status: 'note',
      detail: 'text in images is not recognised: npm install tesseract.js@7 @tesseract.js-data/eng@1',
    };
  }
  return {
    what: 'images',
    status: 'ok',
    detail: `English text is recognised here, offline; to see more, set ${models.join(' or ')}`,
  };
}

/** Reports whether stacks can be measured with an end that is written in another language. */
function checkPeer(language: 'python' | 'go'): Finding {
  const what = `SDKs in ${language}`;
  const { mark, needs, install } = describePeer(language);
  if (existsSync(mark)) return { what, status: 'ok', detail: `installed in ${path.dirname(mark)}` };
  const detail = `only needed for compare --stacks … --implementation ${language}; with ${needs}: ${install}`;
  return { what, status: 'note', detail };
}

async function checkDisk(): Promise<Finding> {
  const folder = path.resolve(resolveOutFolder());
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const detail = `${(free / 1e9).toFixed(1)} GB free in ${folder}`;
  try {
    checkWritable(folder);
  } catch (error) {
    return { what: 'disk', status: 'bad', detail: `${toErrorMessage(error)}: choose another folder (--out)` };
  }
  return { what: 'disk', status: free > MIN_FREE_BYTES ? 'ok' : 'bad', detail };
}

/** Time limit of the trial; the server may have to load the model from disk first. */
const TRY_TIMEOUT_MS = 120_000;

const PROBE: ToolDefinition = {
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};

/** Reports a model's capabilities: from its server, and from one short conversation with a tool, as teams have them. */
async function checkModel(
  options: Pick<TeamOptions, 'engine' | 'model' | 'host' | 'baseUrl' | 'context'> & {
    readonly toolCalls: ModelUse['toolCalls'];
  },
): Promise<Finding> {
  const { model, toolCalls, context } = options;
  const engine = resolveUserName('engine', options.engine ?? 'openai');
  if (!engineNames.includes(engine)) throw createUnknownError('engine', engine, engineNames);
  const host = options.host ?? options.baseUrl;
  const where = omitUndefined({ host, model });
  checkEngineOptions({ model, host, context }, [{ engine, model, host }], 'the engine to check');
  const use: ModelUse = { toolCalls, context, needsTools: true };
  const bad = (detail: string): Finding => ({ what: 'model', status: 'bad', detail });
  try {
    if (host !== undefined) allowKeyHost(host);
    checkServer(engine, where);
    const capabilities = await queryModelCapabilities(engine, where);
    if (capabilities === undefined)
      return { what: 'model', status: 'note', detail: `the engine ${engine} uses no model server` };
    const fault = explainInability('a team with tools', capabilities, use);
    if (fault !== undefined) return bad(fault);
    const tried = await tryOut(engine, where, use);
    const known = { ...capabilities, tools: capabilities.tools ?? tried.tools };
    return { what: 'model', status: 'ok', detail: `${formatCapabilities(known, use)}; ${tried.words}` };
  } catch (error) {
    if (error instanceof MeshError) return bad(error.message);
    throw error;
  }
}

/**
 * Tries the model in one conversation.
 *
 * @throws MeshError as the engine does
 */
async function tryOut(
  engine: string,
  where: { readonly host?: string; readonly model?: string },
  { toolCalls, context }: ModelUse,
): Promise<{ readonly tools: boolean | null; readonly words: string }> {
  const notes: string[] = [];
  const { chat } = await loadEngine(engine, {
    ...where,
    options: { tool_calls: toolCalls, max_retries: 0, ...omitUndefined({ context }) },
    timeoutMs: TRY_TIMEOUT_MS,
    prompts: loadPrompt,
  });
  const beginMs = performance.now();
  const turn = await chat?.(
    {
      messages: [{ role: 'user', content: 'Look up the word "heron" with the tool.' }],
      tools: [PROBE],
    },
    {
      signal: new AbortController().signal,
      countTokens: () => undefined,
      onNote: (note) => notes.push(note),
    },
  );
  const seconds = ((performance.now() - beginMs) / 1000).toFixed(1);
  const called = turn?.toolCalls.some(({ name }) => name === PROBE.name) === true;
  const isText = notes.some((note) => note.includes('as text'));
  return {
    tools: isText ? false : called && toolCalls !== 'text' ? true : null,
    words: `tried: it ${called ? 'called a tool' : 'called no tool when it was asked to'} in ${seconds} s`,
  };
}
