import { handleInterrupt } from '@gaia-mesh/cli/command-line/interruptible.ts';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
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
import { type ModelScript, startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { readScript } from './reply-script.ts';

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
