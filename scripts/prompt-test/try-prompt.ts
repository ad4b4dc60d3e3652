import { isDeepStrictEqual } from 'node:util';
import type { ChatRequest, Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { ANSWER_FORMAT } from '@gaia-mesh/tools/answers/answer-format.ts';
import { REPORT_FORMAT } from '@gaia-mesh/tools/answers/fact.ts';
import { renderPrompt } from '@gaia-mesh/tools/engines/prompt.ts';
import { serverNames } from '@gaia-mesh/tools/engines/registry.ts';
import type { Expectation, Fixture } from './fixture.ts';

/** A model's reply to one fixture, and its faults. */
export interface TriedFixture {
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

/** Lists the variables of a prompt, each once. */
export function listVariables(text: string): string[] {
  return [...new Set([...text.matchAll(/\{\{(.*?)\}\}/g)].map(([, name = '']) => name.trim()))];
}

/** Variables that roles fill in, so that fixtures may leave them out. */
const FORMS = { answer_format: ANSWER_FORMAT, report_format: REPORT_FORMAT };

/** Describes unmet expectations in words; the list is empty when there are none. */
export function findFaults(reply: string, expectations: readonly Expectation[]): string[] {
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
export async function tryPrompt(
  engine: Engine,
  { name, text, variables }: TriedPrompt,
  fixture: Fixture,
  signal: AbortSignal,
): Promise<TriedFixture> {
  if (engine.chat === undefined || engine.tokenSource === 'embedded') {
    throw new MeshError(
      'usage',
      `the ${engine.name} engine has no model to try a prompt on: use --engine ${serverNames.join(' or ')}`,
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
