import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChatRequest, ChatTurn, Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatCommandLine, quoteShellWord } from '@gaia-mesh/core/system/shell-word.ts';
import { argument, choice, defineTable, flag, option } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { type Column, formatColumns } from '@gaia-mesh/evaluation/terminal/columns.ts';
import { print, printError, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';
import { findLibraryFolder, GPUS, LIBRARY } from '@gaia-mesh/tools/engines/llama/installation.ts';
import { launchModel } from '@gaia-mesh/tools/engines/llama/launch-model.ts';
import { findModels } from '@gaia-mesh/tools/engines/llama/model-files.ts';
import { loadEngine, startEngineServer } from '@gaia-mesh/tools/engines/registry.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { EXIT } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { defineOptions } from '../command-line/options.ts';

const installTable = defineTable({
  options: z.object({
    gpu: option('<name>', 'add the package for a graphics card', choice(GPUS).optional()),
  }),
});

const listTable = defineTable({ options: z.object({ json: flag('print a JSON array') }) });

const testTable = defineTable({
  options: z.object({ file: argument('<file>', 'ask the model in this GGUF file', z.string()) }),
});

const serveTable = defineTable({
  options: z.object({ file: argument('<file>', 'serve the model in this GGUF file', z.string()) }),
});

/** Defines `model`, whose commands run the user's own models on this machine. */
export function defineModel(command: Command): void {
  const add = (name: string, does: string) => command.command(name).description(does);
  defineOptions(add('install', 'install the library that runs GGUF files'), installTable, install);
  defineOptions(add('list', 'list GGUF files that are on this machine'), listTable, list);
  defineOptions(add('test', 'try a model with a few questions'), testTable, test);
  defineOptions(add('serve', 'serve a model to other programs, as OpenAI does'), serveTable, serve);
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The library's names of systems. */
const SYSTEMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'mac' };

/** Names the packages to install: the library, and its binaries for this machine alone. */
function listPackages(gpu: string | undefined): string[] {
  const { platform, arch } = process;
  const system = `${SYSTEMS[platform] ?? platform}-${arch === 'arm' ? 'armv7l' : arch}`;
  // For Macs with Apple's processors, one package supports both CPU and GPU.
  const base = system === 'mac-arm64' ? `${system}-metal` : system;
  const binaries = new Set([base, ...(gpu === undefined ? [] : [`${system}-${gpu}`])]);
  const { name, version } = LIBRARY;
  return [`${name}@${version}`, ...[...binaries].map((binary) => `@${name}/${binary}@${version}`)];
}

/** Installs the library into the user's cache: no project and no system folder is changed. */
async function install({ gpu }: z.output<typeof installTable.options>): Promise<void> {
  const folder = findLibraryFolder();
  const packages = listPackages(gpu);
  mkdirSync(folder, { recursive: true });
  const manifest = path.join(folder, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private":true}\n');
  print(`Installing ${packages.join(' ')} into ${folder}`);
  const { npm_execpath: npm } = process.env;
  const [program, ...before] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  // The library's own scripts would fetch sources and compile them.
  const args = ['install', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', ...packages];
  const child = spawn(program ?? 'npm', [...before, ...args], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!execpath)/.test(name))),
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new MeshError('io', `npm ended with exit code ${code}; its last lines say why`);
  print(`Installed. Models on this machine: ${formatCommandLine('model', ['list'])}`);
}

const formatSize = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;

const columns: readonly Column<ReturnType<typeof findModels>['models'][number]>[] = [
  { key: 'name', header: 'name', value: ({ name }) => toOneLine(name, 50) },
  { key: 'size', header: 'size', value: ({ bytes }) => bytes, format: ({ bytes }) => formatSize(bytes) },
  { key: 'context', header: 'context', value: ({ contextTokens }) => contextTokens },
  { key: 'license', header: 'licence', value: ({ license }) => license && toOneLine(license, 30), rank: 1 },
  { key: 'from', header: 'from', value: ({ from }) => from, rank: 2 },
];

/** Lists the models that other programs have fetched already, with the path of each for `--model`. */
function list({ json }: z.output<typeof listTable.options>): void {
  const { models, places } = findModels();
  if (json) printJson(models);
  else if (models.length === 0) {
    print('no GGUF file was found in:');
    for (const place of places) print(`  ${place}`);
  } else {
    printText(`${formatColumns(columns, models)}\n\n`);
    for (const { file } of models) print(`--engine llama --model ${file}`);
  }
}

interface Trial {
  readonly what: string;
  readonly request: ChatRequest;
  readonly isRight: (turn: ChatTurn) => boolean;
}

const ask = (what: string, expected: RegExp): Trial => ({
  what,
  request: { messages: [{ role: 'user', content: what }] },
  isRight: ({ content }) => expected.test(content),
});

const TRIALS: readonly Trial[] = [
  ask('What is the capital of France?', /paris/i),
  ask('How many legs do two dogs have together?', /\b8\b|eight/i),
  ask(
    'The ferry leaves at noon and arrives at three. How many hours does it take?',
    /\b(?:3|three) (?:full )?hours?\b|^\W*(?:3|three)\W*$/i,
  ),
  {
    what: 'a tool call: look up the word heron',
    request: {
      messages: [{ role: 'user', content: 'Look up the word "heron" with the tool.' }],
      tools: [
        {
          name: 'look_up',
          description: 'Looks a word up.',
          parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
        },
      ],
    },
    isRight: ({ toolCalls }) => toolCalls.some(({ name }) => name === 'look_up'),
  },
];

const replySchema = z.object({ city: z.string(), inhabitants: z.int() });

/** Asks a model a few questions, so that a user knows before a long run what it can do and how fast it is. */
async function test({ file }: z.output<typeof testTable.options>): Promise<void> {
  const { signal } = handleInterrupt('the test');
  const startMs = performance.now();
  await startEngineServer('llama', { model: file });
  print(`loaded in ${formatSeconds(startMs)}`);
  const engine = await loadEngine('llama', {
    model: file,
    options: { max_tokens: 256 },
    prompts: () =>
      '## system\n\nReply in JSON: {"city": "Paris", "inhabitants": 2100000}\n\n## user\n\n{{text}}\n',
  });
  const use = { prompt: 0, reply: 0, seconds: 0, right: 0 };
  const work = {
    signal,
    countTokens: () => undefined,
    countUsage: ({
      promptTokens,
      completionTokens,
    }: {
      promptTokens: number | null;
      completionTokens: number | null;
    }) => {
      use.prompt += promptTokens ?? 0;
      use.reply += completionTokens ?? 0;
    },
  };
  const tryOut = async (what: string, run: () => Promise<{ said: string; isRight: boolean }>) => {
    const beginMs = performance.now();
    const { said, isRight } = await run();
    use.seconds += (performance.now() - beginMs) / 1000;
    use.right += isRight ? 1 : 0;
    print(`${isRight ? '✓' : '–'} ${what} (${formatSeconds(beginMs)})`);
    print(`    ${toOneLine(said, 200)}`);
  };
  for (const { what, request, isRight } of TRIALS)
    await tryOut(what, async () => {
      const turn = await chat(engine, request, work);
      const calls = turn.toolCalls.map(({ name, arguments: given }) => `${name}(${JSON.stringify(given)})`);
      return { said: [turn.content, ...calls].join(' '), isRight: isRight(turn) };
    });
  await tryOut('a reply in JSON: a city and its inhabitants', () => replyInJson(engine, work));
  const rate = (use.reply / use.seconds).toFixed(0);
  print(
    `${use.right} of ${TRIALS.length + 1} as expected; ${use.prompt} tokens read, ${use.reply} written: ${rate} tokens/s`,
  );
  if (use.right === 0) process.exitCode = EXIT.failed;
}

async function chat(engine: Engine, request: ChatRequest, work: Parameters<NonNullable<Engine['chat']>>[1]) {
  if (engine.chat === undefined) throw new Error(`the engine ${engine.name} has no chat`);
  return engine.chat(request, work);
}

async function replyInJson(engine: Engine, work: Parameters<Engine['perform']>[1]) {
  try {
    const said = await engine.perform(
      {
        input: {},
        embedded: () => ({}),
        model: {
          prompt: 'city',
          variables: () => ({ text: 'About 8.9 million people live in London.' }),
          reply: replySchema,
          result: (reply) => replySchema.parse(reply),
        },
      },
      work,
    );
    return { said: JSON.stringify(said), isRight: true };
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'engine') throw error;
    printError(error.message);
    return { said: 'no usable reply', isRight: false };
  }
}

function formatSeconds(fromMs: number): string {
  return `${((performance.now() - fromMs) / 1000).toFixed(1)} s`;
}

/** Serves a model on a free port of this machine until a signal comes, and prints the variables with which programs find it. */
async function serve({ file }: z.output<typeof serveTable.options>): Promise<void> {
  const { signal } = handleInterrupt('the server');
  const { url, token } = await launchModel(file);
  print(`export OPENAI_BASE_URL=${url}`);
  print(`export OPENAI_API_KEY=${token}`);
  print(`export OPENAI_MODEL=${quoteShellWord(file)}`);
  printError('Ctrl-C ends it.');
  // The model's process does not keep this one alive.
  while (!signal.aborted) await delay(LONGEST_TIMER_MS, undefined, { signal }).catch(() => undefined);
}
