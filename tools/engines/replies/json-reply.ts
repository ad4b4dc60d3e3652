import type { ToolCall } from '@gaia-mesh/core/contracts/engine.ts';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, isJsonObject, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { keepForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import type * as z from 'zod';
import { fitReply, readPlainReply } from './fit-value.ts';

/** Maximum JSON values of a reply that are tried; a reply with more is not the JSON that was asked for. */
const MAX_CANDIDATES = 64;

/**
 * Returns the texts in a reply that may be the JSON that was asked for, the likeliest first: all of it, code blocks from the last to the
 * first, then texts between matching braces, outermost and last first. Models write words before and after, even if told not to.
 */
export function findJsonCandidates(text: string): string[] {
  const fenced = [...text.matchAll(/```[\w-]*[ \t]*\r?\n?([\s\S]*?)(?:```|$)/g)].map(
    ([, inner = '']) => inner,
  );
  const all = [text, ...fenced.reverse(), ...findBraced(text).reverse()].map((candidate) => candidate.trim());
  return [...new Set(all)].filter((candidate) => /^[[{"]/.test(candidate)).slice(0, MAX_CANDIDATES);
}

/** Returns the outermost objects and lists in a text, in their order. Braces in JSON's strings are ignored. */
function findBraced(text: string): string[] {
  const found: string[] = [];
  const open: string[] = [];
  let begin = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (isString) {
      if (character === '\\') at += 1;
      else if (character === '"') isString = false;
      // JSON's strings have no bare line ends, so this quotation mark belonged to prose.
      else if (character === '\n') isString = false;
      continue;
    }
    if (character === '"') isString = open.length > 0;
    else if (character === '{' || character === '[') {
      if (open.length === 0) begin = at;
      open.push(character);
    } else if ((character === '}' || character === ']') && open.length > 0) {
      const isMatch = open.at(-1) === (character === '}' ? '{' : '[');
      if (!isMatch) open.length = 0;
      else open.pop();
      if (isMatch && open.length === 0) found.push(text.slice(begin, at + 1));
    }
  }
  return found;
}

/**
 * Returns an object that was cut off in one of its lists, closed behind the list's last whole item; undefined where the cut is elsewhere, since
 * half a text is none. Small models fill a list until their reply is full.
 */
function closeCutList(text: string): string | undefined {
  const begin = text.indexOf('{');
  if (begin === -1) return undefined;
  const open: string[] = [];
  let whole: number | undefined;
  let isString = false;
  for (let at = begin; at < text.length; at++) {
    const character = text[at] ?? '';
    if (isString) {
      if (character === '\\') at += 1;
      isString = character !== '"';
    } else if (character === '"') isString = true;
    else if (character === '{' || character === '[') open.push(character);
    else if (character === '}' || character === ']') open.pop();
    if (open.length === 0) return undefined;
    const isInList = open.length === 2 && open[1] === '[';
    if (open.length === 1) whole = undefined;
    // A number is whole only with the comma that follows it.
    else if (isInList && !isString && /["},]/.test(character)) whole = character === ',' ? at : at + 1;
  }
  return whole === undefined ? undefined : `${text.slice(begin, whole)}]}`;
}

/** Returns the candidate, and a repaired copy if models' typical slips are in it: trailing commas, comments, Python's True, False and None. */
function mendJsonTexts(candidate: string): string[] {
  const mended = candidate.replace(
    /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=\s*[}\]])|\b(?:True|False|None)\b/g,
    (part) => {
      if (part.startsWith('"')) return part;
      const names: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };
      return names[part] ?? '';
    },
  );
  return mended === candidate ? [candidate] : [candidate, mended];
}

type ReadJson =
  | { readonly fault: string }
  | {
      readonly fault?: undefined;
      readonly value: unknown;
      /** True if the reply was cut off in a list, whose whole items are in the value. */
      readonly isCut?: boolean;
    };

/**
 * Reads the value for which JSON of a schema was asked, regardless of the text around it, or says what is wrong, in words for the model.
 * If several values fit, the likeliest counts (see {@link findJsonCandidates}); those that fit as they are come before those that
 * {@link fitReply} makes fit, and plain words come last.
 */
export function readJson(content: string, schema: z.ZodType): ReadJson {
  const read = readWholeJson(content, schema);
  const cut = read.fault === undefined ? undefined : closeCutList(content);
  const rest = cut === undefined ? read : readWholeJson(cut, schema);
  return rest.fault === undefined && cut !== undefined ? { ...rest, isCut: true } : read;
}

function readWholeJson(content: string, schema: z.ZodType): ReadJson {
  if (content.trim() === '') return { fault: 'it is not JSON: it is empty' };
  let fault: string | undefined;
  const values = [...parseValues(content)].flatMap((value) => [value, ...unwrapValue(value)]);
  const plain = readPlainReply(content, schema);
  const whole = values.find((value) => schema.safeParse(value).success);
  const candidates = [whole, ...values, plain].filter((value) => value !== undefined);
  for (const candidate of candidates) {
    // Even a value that fits may hold a sentence such as "nothing is missing" where a list should be empty.
    for (const value of [fitReply(candidate, schema), candidate]) {
      const parsed = schema.safeParse(value);
      if (parsed.success) return { value: parsed.data };
      fault ??= `it does not fit the schema: ${formatIssues(parsed.error)}`;
    }
  }
  return { fault: fault ?? `it is not JSON: ${explainSyntax(content)}` };
}

function* parseValues(content: string): Generator<unknown> {
  for (const candidate of [content.trim(), ...findJsonCandidates(content)]) {
    const value = parseLoosely(candidate);
    if (value !== undefined) yield value;
  }
}

/** Unwraps a value that a model put into a list of one, or under a single key. */
function unwrapValue(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner: unknown[] = Object.values(value);
  return inner.length === 1 && typeof inner[0] === 'object' ? inner : [];
}

/** Parses a text that is JSON, or nearly so; undefined if it is not. */
export function parseLoosely(text: string): unknown {
  for (const candidate of mendJsonTexts(text)) {
    try {
      // The result travels in packets, so it holds what they can.
      return keepForeignJson(candidate).value;
    } catch (error) {
      // Extremely deep nesting overflows the parser's stack.
      if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    }
  }
  return undefined;
}

function explainSyntax(content: string): string {
  try {
    JSON.parse(content);
  } catch (error) {
    return toErrorMessage(error);
  }
  return 'nothing in it is';
}

/** Maximum times that arguments are encoded within each other. */
const MAX_ENCODINGS = 3;

/** Reads a tool's arguments, which servers send as an object or as its text; anything but an object stays text. */
function readArguments(given: unknown): JsonObject | string {
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  // Some models write nothing for a tool without arguments.
  if (text.trim() === '') return {};
  let value = parseLoosely(text);
  for (let times = 1; typeof value === 'string' && times < MAX_ENCODINGS; times++)
    value = parseLoosely(value);
  if (isJsonObject(value)) return value;
  return text.toWellFormed();
}

/** Returns the arguments as an object, for servers that accept nothing else: the model sees what it had written. */
export function parseArguments(call: ToolCall): JsonObject {
  return typeof call.arguments === 'string' ? { not_an_object: call.arguments } : call.arguments;
}

/** Maximum calls in a reply, far more than a model makes at once: a reply full of calls must not start thousands of tools. */
export const MAX_TOOL_CALLS = 64;

/**
 * Builds the calls of one reply, each with a unique id: servers may leave ids out or repeat them, and an id must be new in the
 * conversation.
 *
 * @param turn number of messages before the reply, which makes ids new
 */
export function buildToolCalls(
  calls: readonly {
    readonly id?: string | null | undefined;
    readonly name: string;
    readonly arguments?: unknown;
  }[],
  turn: number,
): ToolCall[] {
  if (calls.length > MAX_TOOL_CALLS)
    throw new Error(`it calls ${calls.length} tools, more than ${MAX_TOOL_CALLS}`);
  const taken = new Set<string>();
  return calls.map((call, index) => {
    const isUsable = typeof call.id === 'string' && /^[\w-]{1,128}$/.test(call.id) && !taken.has(call.id);
    const id = isUsable && typeof call.id === 'string' ? call.id : `call_${turn}_${index}`;
    taken.add(id);
    return { id, name: call.name, arguments: readArguments(call.arguments) };
  });
}
