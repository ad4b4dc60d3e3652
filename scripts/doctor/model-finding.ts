import type { ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { createUnknownError } from '@gaia-mesh/core/contracts/registry.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import type { TeamOptions } from '@gaia-mesh/evaluation/plan/options.ts';
import { checkEngineOptions } from '@gaia-mesh/evaluation/plan/team-options.ts';
import { resolveUserName } from '@gaia-mesh/evaluation/teams/user-files.ts';
import {
  explainInability,
  formatCapabilities,
  type ModelUse,
} from '@gaia-mesh/tools/engines/capabilities.ts';
import {
  checkServer,
  engineNames,
  loadEngine,
  queryModelCapabilities,
} from '@gaia-mesh/tools/engines/registry.ts';
import { allowKeyHost } from '@gaia-mesh/tools/engines/server-kind.ts';
import { loadPrompt } from '@gaia-mesh/tools/prompts.ts';

export interface Finding {
  readonly what: string;
  /** `note` means that a run works, but some feature is not available. */
  readonly status: 'ok' | 'note' | 'bad';
  readonly detail: string;
}

/** Time limit of the trial; the server may have to load the model from disk first. */
const TRY_TIMEOUT_MS = 120_000;

const PROBE: ToolDefinition = {
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};

/** Reports a model's capabilities: from its server, and from one short conversation with a tool, as teams have them. */
export async function checkModel(
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
