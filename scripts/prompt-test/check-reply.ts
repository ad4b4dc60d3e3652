import { isDeepStrictEqual } from 'node:util';
import type { Expectation } from './fixture.ts';

/** What a reply lacks of what is expected of it, in words; empty: nothing. */
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

/** The reply as JSON, or what stands in it between the outermost braces: models say a word before and after. */
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
