import { readFileSync } from 'node:fs';
import { handleInterrupt } from '@gaia-mesh/cli/command-line/interruptible.ts';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { isJsonObject, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import {
  commaList,
  defineTable,
  option,
  port,
  text,
  wholeNumber,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { print, printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { BEHAVIOURS, behaving, behaviourOf } from '@gaia-mesh/tools/fixtures/model-behaviours.ts';
import {
  type ModelScript,
  type ModelServerRequest,
  type ScriptedReply,
  startModelServer,
} from '@gaia-mesh/tools/fixtures/model-server.ts';
import type { Command } from 'commander';
import * as z from 'zod';

const object = z.custom<JsonObject>(isJsonObject, 'must be an object');

/** A line of a script: a reply, and the requests that it fits. Without `when` it fits every request. */
const lineSchema = z.strictObject({
  /** A regular expression that some message of the request must match. */
  when: z.string().exactOptional(),
  /** Number of times that the line is used, 1 by default; the last fitting line is used without limit. */
  times: z.int().positive().exactOptional(),
  content: z.union([z.string(), object]).exactOptional(),
  thoughts: z.string().exactOptional(),
  tool_calls: z
    .array(z.strictObject({ name: z.string(), arguments: z.union([object, z.string()]) }))
    .exactOptional(),
  finish: z.enum(['stop', 'length', 'tool_calls', 'filtered']).exactOptional(),
  status: z.int().min(400).max(599).exactOptional(),
  error: z.string().exactOptional(),
});
type Line = z.infer<typeof lineSchema>;

/**
 * Reads a script of replies: a request gets the first fitting line that has uses left, or else the last fitting one.
 *
 * @throws MeshError `config` with file and line for an invalid script
 */
export function readScript(file: string): ModelScript {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new MeshError('config', `${file}: ${toErrorMessage(error)}`, { cause: error });
  }
  const lines = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const where = `${file}:${index + 1}`;
    const parsed = parseJsonLine(line, lineSchema, where);
    return [{ line: parsed, fits: compilePattern(parsed, where), left: parsed.times ?? 1 }];
  });
  return (request) => {
    const fitting = lines.filter(({ fits }) => fits(request));
    const next = fitting.find(({ left }) => left > 0) ?? fitting.at(-1);
    if (next === undefined) return { content: 'The script has no line for this request.' };
    next.left -= 1;
    return toScriptedReply(next.line);
  };
}

function compilePattern({ when }: Line, where: string): (request: ModelServerRequest) => boolean {
  if (when === undefined) return () => true;
  try {
    const pattern = new RegExp(when, 'i');
    return ({ messages }) => messages.some(({ content }) => pattern.test(content));
  } catch (error) {
    throw new MeshError('config', `${where}: when: ${toErrorMessage(error)}`, { cause: error });
  }
}

function toScriptedReply({ when: _when, times: _times, tool_calls, ...said }: Line): ScriptedReply {
  return tool_calls === undefined ? said : { ...said, toolCalls: tool_calls };
}

const NAMES = Object.entries(BEHAVIOURS).map(([name, { number }]) =>
  number === undefined ? name : `${name}=<${number}>`,
);

const serverTable = defineTable({
  options: z.object({
    script: option(
      '<file>',
      'reply with the JSON lines of this file (when, content, tool_calls, thoughts, finish, …)',
      text.optional(),
    ),
    behaviour: option(
      '<name>',
      `make the server behave like this (repeatable): ${NAMES.join(', ')}`,
      z
        .array(text.refine((name) => behaviourOf(name) !== undefined, `expected ${NAMES.join(', ')}`))
        .default([]),
    ),
    models: option('<names>', 'serve these models, separated by commas (default: any)', commaList.optional()),
    context: option('<tokens>', 'report this context size', wholeNumber.optional()),
    port: option('<n>', 'listen on this port of 127.0.0.1', port.default(8089)),
  }),
});

export function defineModelServer(command: Command): void {
  defineOptions(command, serverTable, run);
}

const UNSCRIPTED: ModelScript = [{ content: 'FINAL ANSWER: nothing (the server has no --script)' }];

/** Runs a model server without a model, in the formats of Ollama, OpenAI and Anthropic, until Ctrl-C. */
async function run({
  script,
  behaviour,
  models,
  context,
  port,
}: z.output<typeof serverTable.options>): Promise<void> {
  const { signal } = handleInterrupt('the server');
  const says = script === undefined ? UNSCRIPTED : readScript(resolveUserPath(script));
  const behaviours = behaviour.flatMap((text) => behaviourOf(text) ?? []);
  const capabilities = ['completion', ...(behaviour.includes('no-tools') ? [] : ['tools'])];
  const server = await startModelServer(behaving(says, behaviours), {
    port,
    capabilities,
    ...omitUndefined({ models, contextTokens: context }),
    onRequest: ({ format, model, messages, tools }) =>
      printError(`${format} ${model}: ${messages.length} messages, ${tools.length} tools`),
    onInvalid: (why) => printError(`refused, as a real server would: ${why}`),
  });
  print(`Listening. --engine ollama --host ${server.url}`);
  print(`           --engine openai --base-url ${server.url}/v1`);
  print(`           --engine anthropic --host ${server.url}`);
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await server.close();
}
