import { existsSync } from 'node:fs';
import path from 'node:path';
import { diff, isDeepStrictEqual } from 'node:util';
import type { ChatRequest, Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { argument, defineTable, flag, option, text } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { teamShape } from '@gaia-mesh/evaluation/plan/options.ts';
import { checkEngineOptions } from '@gaia-mesh/evaluation/plan/team-options.ts';
import { createStyles, printJson, printText, type Styles } from '@gaia-mesh/evaluation/terminal/print.ts';
import { count, formatTable } from '@gaia-mesh/evaluation/terminal/table.ts';
import { ANSWER_FORMAT } from '@gaia-mesh/tools/answers/answer-format.ts';
import { REPORT_FORMAT } from '@gaia-mesh/tools/answers/fact.ts';
import { renderPrompt } from '@gaia-mesh/tools/engines/prompt.ts';
import { checkServer, describeEngine, engineNames, loadEngine } from '@gaia-mesh/tools/engines/registry.ts';
import { allowKeyHost } from '@gaia-mesh/tools/engines/server-kind.ts';
import { createPromptLoader, loadPrompt } from '@gaia-mesh/tools/prompts.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { EXIT } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { loadKeys } from '../command-line/load-keys.ts';
import { defineOptions } from '../command-line/options.ts';

/** A model's reply to one fixture, and its faults. */
interface TriedFixture {
  readonly reply: string;
  /** Unmet expectations; empty when the reply passed. */
  readonly faults: readonly string[];
  readonly tokens: number;
}

/** A prompt, either the shipped one or a proposed change. */
interface TriedPrompt {
  readonly name: string;
  readonly text: string;
  /** Names of the variables that its step fills in. */
  readonly variables: readonly string[];
}

const promptTestTable = defineTable({
  options: z.object({
    prompt: argument('<prompt>', 'try this prompt of config/prompts, e.g. plan', z.string()),
    with: option('<file>', 'try this changed prompt', text),
    fixtures: option('<file>', 'read your own cases from JSON lines', text.optional()),
    engine: option('<name>', 'use an engine with a model', text.default('ollama')),
    model: teamShape.model,
    host: teamShape.host,
    json: flag('print results as JSON'),
  }),
});

export function definePromptTest(command: Command): void {
  defineOptions(command, promptTestTable, run);
}

/** One fixture with the results of both prompts. */
interface Pair {
  readonly fixture: string;
  readonly old: TriedFixture;
  readonly new: TriedFixture;
}

interface Passed {
  readonly old: number;
  readonly new: number;
}

function countPassed(pairs: readonly Pair[]): Passed {
  const passed = (side: 'old' | 'new') => pairs.filter((pair) => pair[side].faults.length === 0).length;
  return { old: passed('old'), new: passed('new') };
}

/** Formats the result for people: passed fixtures, faults, and the differences between the replies. */
function formatPromptReport(prompt: string, pairs: readonly Pair[], styles: Styles): string {
  const passed = countPassed(pairs);
  const tokens = (side: 'old' | 'new') => count(pairs.reduce((sum, pair) => sum + pair[side].tokens, 0));
  const rows = [
    [prompt, 'old', 'new'],
    ...pairs.map((pair) => [escapeText(pair.fixture), formatVerdict(pair.old), formatVerdict(pair.new)]),
    ['passed', `${passed.old} of ${pairs.length}`, `${passed.new} of ${pairs.length}`],
    ['tokens', tokens('old'), tokens('new')],
  ];
  return [formatTable(rows), ...pairs.map((pair) => formatDetails(pair, styles))].join('\n\n');
}

function formatVerdict({ faults }: TriedFixture): string {
  return faults.length === 0 ? 'passed' : 'failed';
}

interface DiffLine {
  readonly kind: 'same' | 'old' | 'new';
  readonly text: string;
}

/** Maximum lines of each side that are compared. */
const MAX_LINES = 500;

/** Compares two texts line by line; removed lines stand before added ones. */
function diffLines(before: string, after: string): DiffLine[] {
  return diff(splitLines(before), splitLines(after)).map(([operation, text]) => ({
    kind: operation === 0 ? 'same' : operation === 1 ? 'old' : 'new',
    text,
  }));
}

function splitLines(text: string): string[] {
  const lines = text.split('\n');
  return lines.length <= MAX_LINES
    ? lines
    : [...lines.slice(0, MAX_LINES), `[${lines.length - MAX_LINES} more lines]`];
}

function formatDetails(pair: Pair, styles: Styles): string {
  const faults = (['old', 'new'] as const).flatMap((side) =>
    pair[side].faults.map((fault) => styles.yellow(`  ${side} reply: ${escapeText(fault)}`)),
  );
  const diff =
    pair.old.reply === pair.new.reply
      ? [styles.dim('  the replies are the same')]
      : diffLines(pair.old.reply, pair.new.reply).map(({ kind, text }) => {
          if (kind === 'same') return styles.dim(`    ${escapeText(text)}`);
          return kind === 'old'
            ? styles.red(`  - ${escapeText(text)}`)
            : styles.green(`  + ${escapeText(text)}`);
        });
  return [styles.bold(escapeText(pair.fixture)), ...faults, ...diff].join('\n');
}

/** Replaces control characters, so that a model's reply cannot drive the terminal. */
function escapeText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
}

/**
 * Tries a changed prompt beside the shipped one, on the same fixtures and the same model, and shows the fixtures that
 * each passes and how the replies differ (REQ-081). Exits with 1 when the change passes fewer of them.
 */
async function run(options: z.output<typeof promptTestTable.options>): Promise<void> {
  const { prompt: name } = options;
  const old = loadPrompt(name);
  const file = resolveUserPath(options.with);
  const fixtures = readFixtures(
    options.fixtures === undefined ? findFixtures(name) : resolveUserPath(options.fixtures),
  );
  // The step fills in the variables of the shipped prompt: a change with fewer or other variables would not run.
  const variables = listVariables(old);
  const prompts = {
    old: { name, text: old, variables },
    new: { name: path.basename(file), text: createPromptLoader(file)(name), variables },
  };
  checkEngineOptions(options, [options], 'the test');
  loadKeys();
  if (options.host !== undefined) allowKeyHost(options.host);
  const settings = omitUndefined({ model: options.model, host: options.host });
  checkServer(options.engine, settings);
  const engine = await loadEngine(options.engine, {
    ...settings,
    prompts: loadPrompt,
  });
  const { signal } = handleInterrupt('the test');
  const pairs: Pair[] = [];
  try {
    for (const fixture of fixtures) {
      // The calls are sequential: a local model would only queue them.
      const before = await tryPrompt(engine, prompts.old, fixture, signal);
      const after = await tryPrompt(engine, prompts.new, fixture, signal);
      pairs.push({ fixture: fixture.name, old: before, new: after });
    }
  } catch (error) {
    // Ctrl-C looks like an unreachable model.
    signal.throwIfAborted();
    throw error;
  }
  const passed = countPassed(pairs);
  if (options.json) {
    const summary = { schema_version: 1, prompt: name, fixtures: pairs.length, passed, results: pairs };
    printJson(summary);
  } else {
    printText(`${formatPromptReport(name, pairs, createStyles(process.stdout))}\n`);
  }
  if (passed.new < passed.old) process.exitCode = EXIT.failed;
}

function findFixtures(name: string): string {
  const file = path.join(codeFolder, 'config', 'prompt-fixtures', `${name}.jsonl`);
  if (existsSync(file)) return file;
  throw new MeshError('usage', `no fixtures ship for the prompt ${name}: name a file with --fixtures`);
}

/** Lists the variables of a prompt, each once. */
function listVariables(text: string): string[] {
  return [...new Set([...text.matchAll(/\{\{(.*?)\}\}/g)].map(([, name = '']) => name.trim()))];
}

/** Variables that roles fill in, so that fixtures may leave them out. */
const FORMS = { answer_format: ANSWER_FORMAT, report_format: REPORT_FORMAT };

/** Describes unmet expectations in words; the list is empty when there are none. */
function findFaults(reply: string, expectations: readonly Expectation[]): string[] {
  return expectations.flatMap((expectation) => findFault(reply, expectation) ?? []);
}

function findFault(reply: string, expectation: Expectation): string | undefined {
  if ('contains' in expectation) {
    const { contains } = expectation;
    return hasText(reply, contains) ? undefined : `does not contain ${JSON.stringify(contains)}`;
  }
  if ('excludes' in expectation) {
    const { excludes } = expectation;
    return hasText(reply, excludes) ? `contains ${JSON.stringify(excludes)}` : undefined;
  }
  if ('matches' in expectation) {
    const { matches } = expectation;
    return new RegExp(matches, 'i').test(reply) ? undefined : `does not match /${matches}/`;
  }
  const { field, equals } = expectation;
  const json = parseReplyJson(reply);
  if (json === undefined) return `is not JSON, so it has no ${field}`;
  const value = readPath(json.value, field);
  if (isDeepStrictEqual(value, equals)) return undefined;
  return `${field} is ${value === undefined ? 'not there' : JSON.stringify(value)}, expected ${JSON.stringify(equals)}`;
}

function hasText(reply: string, text: string): boolean {
  return reply.toLowerCase().includes(text.toLowerCase());
}

/** Parses the reply as JSON, or the text between its outermost braces: models add words before and after. */
function parseReplyJson(reply: string): { readonly value: unknown } | undefined {
  for (const text of [reply, reply.slice(reply.indexOf('{'), reply.lastIndexOf('}') + 1)]) {
    try {
      return { value: JSON.parse(text) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

function readPath(value: unknown, path: string): unknown {
  return path.split('.').reduce((part: unknown, key) => {
    return typeof part === 'object' && part !== null && Object.hasOwn(part, key)
      ? Reflect.get(part, key)
      : undefined;
  }, value);
}

/**
 * Sends a model a prompt filled in from a fixture, without tools: the trial is about the prompt, not the team.
 *
 * @throws MeshError `config` for a prompt or a fixture with other variables than the step's; `engine`; `usage` for an
 * engine without a model
 */
async function tryPrompt(
  engine: Engine,
  { name, text, variables }: TriedPrompt,
  fixture: Fixture,
  signal: AbortSignal,
): Promise<TriedFixture> {
  if (engine.chat === undefined || engine.tokenSource === 'embedded') {
    const others = engineNames.filter((other) => describeEngine(other).network);
    throw new MeshError(
      'usage',
      `the ${engine.name} engine has no model to try a prompt on: use --engine ${others.join(' or ')}`,
    );
  }
  const forms = Object.entries(FORMS).filter(([variable]) => variables.includes(variable));
  const given = { ...Object.fromEntries(forms), ...fixture.variables };
  const missing = variables.filter((variable) => !Object.hasOwn(given, variable));
  if (missing.length > 0) {
    throw new MeshError(
      'config',
      `fixture ${fixture.name}: has no ${missing.join(', ')}, which ${name} fills in`,
    );
  }
  const request: ChatRequest = { messages: renderPrompt(name, text, given) };
  let tokens = 0;
  const { content } = await engine.chat(request, {
    signal,
    countTokens: (count) => {
      tokens += count;
    },
  });
  const reply = content.trim();
  return { reply, faults: findFaults(reply, fixture.expect), tokens };
}

/** A regular expression, checked when it is read, so that a mistake is reported with its line. */
const pattern = z.string().refine(isPattern, 'is no regular expression');

const expectationSchema = z.union([
  z.strictObject({ contains: z.string().min(1) }),
  z.strictObject({ excludes: z.string().min(1) }),
  z.strictObject({ matches: pattern }),
  /** A value inside a JSON reply, by its path: `steps.0.tool`. */
  z.strictObject({ field: z.string().min(1), equals: z.json() }),
]);

/** An expectation of a reply; comparisons of texts ignore case. */
type Expectation = z.infer<typeof expectationSchema>;

const fixtureSchema = z.strictObject({
  name: z.string().min(1).max(200),
  /** Texts of the prompt's variables; `answer_format` and `report_format` default to those of the roles. */
  variables: z.record(z.string(), z.string()),
  expect: z.array(expectationSchema).min(1),
});

/** One case for a prompt: the values of its variables, and what is expected of the reply. */
type Fixture = z.infer<typeof fixtureSchema>;

/** Maximum size of a file of fixtures; a fixture is a question and a page or two. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Maximum number of fixtures, each of which is asked twice; `gaia` is for larger benchmarks. */
const MAX_FIXTURES = 1000;

/**
 * Reads fixtures from a file, one JSON line each.
 *
 * @throws MeshError `config` with file and line
 */
function readFixtures(file: string): Fixture[] {
  const text = readUserText(file, { what: 'fixtures', maxBytes: MAX_FILE_BYTES });
  const fixtures = text.split('\n').flatMap((line, index) => {
    return line.trim() === '' ? [] : [parseJsonLine(line, fixtureSchema, `${file}:${index + 1}`)];
  });
  if (fixtures.length === 0) throw new MeshError('config', `${file}: it has no fixtures`);
  if (fixtures.length > MAX_FIXTURES) {
    throw new MeshError('config', `${file}: ${fixtures.length} fixtures, more than ${MAX_FIXTURES}`);
  }
  return fixtures;
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'i');
    return true;
  } catch {
    // RegExp throws only for an invalid pattern.
    return false;
  }
}
