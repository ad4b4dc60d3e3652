import type { ChatRequest, Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { ANSWER_FORMAT } from '@gaia-mesh/tools/answers/answer-format.ts';
import { REPORT_FORMAT } from '@gaia-mesh/tools/answers/fact.ts';
import { renderPrompt } from '@gaia-mesh/tools/engines/prompt.ts';
import { findFaults } from './check-reply.ts';
import type { Fixture } from './fixture.ts';

/** What a model said to one fixture, and what is wrong with it. */
export interface TriedFixture {
  readonly reply: string;
  /** Empty: it passed. */
  readonly faults: readonly string[];
  readonly tokens: number;
}

/** A prompt as it is now, or as it might become. */
interface TriedPrompt {
  readonly name: string;
  readonly text: string;
  /** Names of the variables that its step fills in. */
  readonly variables: readonly string[];
}

/** The variables of a prompt, each once. */
export function listVariables(text: string): string[] {
  return [...new Set([...text.matchAll(/\{\{(.*?)\}\}/g)].map(([, name = '']) => name.trim()))];
}

/** What roles fill in that no fixture need say. */
const FORMS = { answer_format: ANSWER_FORMAT, report_format: REPORT_FORMAT };

/**
 * Asks a model with a prompt that is filled in from a fixture, without tools: it is the prompt that is tried, not the team.
 *
 * @throws MeshError `config` for a prompt or a fixture with other variables than the step's; `engine`; `usage` for an engine without a model
 */
export async function tryPrompt(
  engine: Engine,
  { name, text, variables }: TriedPrompt,
  fixture: Fixture,
  signal: AbortSignal,
): Promise<TriedFixture> {
  if (engine.chat === undefined || engine.tokenSource === 'embedded') {
    throw new MeshError(
      'usage',
      `the ${engine.name} engine has no model to try a prompt on: take --engine ollama, openai or anthropic`,
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
