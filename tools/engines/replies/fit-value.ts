import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { cleanAnswer, hasStatedAnswer } from '../../answers/clean-answer.ts';

/**
 * Fits a value that a model wrote to the schema that it was asked for, where only the form differs: a number or a boolean in quotes,
 * `8/10`, null for a value that may be left out, one value in place of a list, a sentence in place of an object, a key in another spelling.
 * What does not fit is returned unchanged, for the check that follows.
 */
export function fitReply(value: unknown, schema: z.ZodType): unknown {
  const shape = z.record(z.string(), z.json()).parse(z.toJSONSchema(schema, { unrepresentable: 'any' }));
  return fitValue(value, shape);
}

function fitValue(value: unknown, schema: JsonObject): unknown {
  const options = Array.isArray(schema.anyOf) ? schema.anyOf.filter(isJsonObject) : [];
  if (options.length > 0) return fitOption(value, options);
  if (Array.isArray(schema.enum)) return fitEnum(value, schema.enum);
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type;
  switch (value === null && type !== schema.type ? 'null' : type) {
    case 'boolean':
      return fitBoolean(value);
    case 'number':
    case 'integer':
      return fitNumber(value, schema);
    case 'string':
      return fitText(value, schema);
    case 'array':
      return fitList(value, schema);
    case 'object':
      return fitObject(value, schema);
    default:
      return value;
  }
}

function fitOption(value: unknown, options: readonly JsonObject[]): unknown {
  if (value === null && options.some(({ type }) => type === 'null')) return value;
  const [first] = options.filter(({ type }) => type !== 'null');
  return first === undefined ? value : fitValue(value, first);
}

const toName = (text: string) =>
  text
    .trim()
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

/** Finds the one value of a list of names that a text has. */
function fitEnum(value: unknown, names: readonly JsonValue[]): unknown {
  if (typeof value !== 'string' || names.includes(value)) return value;
  const same = names.find((name) => typeof name === 'string' && toName(name) === toName(value));
  if (same !== undefined) return same;
  const words = new Set(value.toLowerCase().match(/[\p{L}\d_]+/gu));
  const named = names.filter((name) => typeof name === 'string' && words.has(name.toLowerCase()));
  return named.length === 1 ? named[0] : value;
}

function fitBoolean(value: unknown): unknown {
  if (typeof value === 'number') return value !== 0;
  if (typeof value !== 'string') return value;
  if (/^\W*(?:true|yes|y|1|ja|oui|sí|是)\b/i.test(value)) return true;
  return /^\W*(?:false|no|none|n|0|nein|non|否)\b/i.test(value) ? false : value;
}

/** Words for marks, as parts of a scale; 0.6 is "good enough to go on with". */
const MARKS: readonly (readonly [RegExp, number])[] = [
  [/\b(?:perfect|excellent|outstanding|very (?:high|good|strong)|full(?:y)?)\b/i, 1],
  [/\b(?:very (?:low|poor|bad|weak)|none|useless|zero)\b/i, 0.1],
  [/\b(?:high|good|strong|well)\b/i, 0.8],
  [/\b(?:low|poor|bad|weak)\b/i, 0.3],
  [/\b(?:medium|moderate|acceptable|sufficient|adequate|ok(?:ay)?)\b/i, 0.6],
  [/\b(?:fair|average|partial(?:ly)?|mixed)\b/i, 0.5],
];

function fitNumber(value: unknown, { type, minimum, maximum }: JsonObject): unknown {
  const most = typeof maximum === 'number' ? maximum : undefined;
  const read = typeof value === 'string' ? readNumber(value, most) : value;
  if (typeof read !== 'number') return value;
  // A mark out of 100 on a scale to 10.
  const scaled = most === 10 && read > 10 && read <= 100 ? read / 10 : read;
  const whole = type === 'integer' ? Math.round(scaled) : scaled;
  return typeof minimum === 'number' && most !== undefined ? Math.min(Math.max(whole, minimum), most) : whole;
}

function readNumber(text: string, most: number | undefined): number | undefined {
  const [, first = '', of] = /(-?\d+(?:[.,]\d+)?)(?:\s*(?:\/|of|out of|von)\s*(\d+))?/i.exec(text) ?? [];
  if (first !== '') {
    const number = Number(first.replace(',', '.'));
    if (most === undefined || !/\/|\bof\b|\bvon\b|%/.test(text)) return number;
    return (number / (text.includes('%') ? 100 : Number(of ?? most))) * most;
  }
  if (most === undefined) return undefined;
  const part = MARKS.find(([words]) => words.test(text))?.[1];
  return part === undefined ? undefined : part * most;
}

function fitText(value: unknown, { maxLength }: JsonObject): unknown {
  const text = toText(value);
  if (text === undefined) return value;
  return typeof maxLength === 'number' && text.length > maxLength
    ? text.slice(0, maxLength).toWellFormed()
    : text;
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    const texts = value.map(toText);
    return texts.every((text) => text !== undefined) ? texts.join('; ') : undefined;
  }
  // An object in place of a text has the text as its first member.
  return isJsonObject(value) ? Object.values(value).find((member) => typeof member === 'string') : undefined;
}

/** Matches the sentences with which models say that a list is empty. */
const NOTHING =
  /^\W*(?:there (?:is|are) )?(?:none|nothing|nil|null|n\/a|keine?|nichts|no(?: (?:other|further|major|significant|part|step|weakness|issue|problem|suggestion|error|flaw|remark|concern|gap|alternative|contradiction)(?:e?s)?)*)?(?: of (?:the |its )?(?:question|parts|steps))?(?: (?:is|are|was|were|has been|have been|to|else|at all|missing|needed|necessary|found|identified|noted|omitted|lacking|wrong|left out|report|add|improve|mention|note))*\W*$/i;

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'string' && NOTHING.test(value));
}

function fitList(value: unknown, { items, maxItems }: JsonObject): unknown {
  const item = isJsonObject(items) ? items : {};
  const given = splitList(value).flatMap((one) => (isNothing(one) ? [] : [fitItem(one, item)]));
  // Small models repeat themselves until the reply reaches its limit.
  const fitted = given.filter((one, index) => typeof one !== 'string' || given.indexOf(one) === index);
  return typeof maxItems === 'number' ? fitted.slice(0, maxItems) : fitted;
}

/** Splits a value in place of a list: a text into its lines or numbers, an object into its members. */
function splitList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (isNothing(value)) return [];
  if (isJsonObject(value)) {
    const members = Object.values(value);
    return members.length > 0 && members.every(isJsonObject) ? members : [value];
  }
  if (typeof value !== 'string') return [value];
  if (/^[\s\d,;]+$/.test(value)) return value.match(/\d+/g) ?? [];
  const lines = value
    .split(/\r?\n|(?<=\S)\s+(?=\d{1,2}[.)]\s)/)
    .map((line) => line.replace(/^\s*(?:[-*•]|\d{1,2}[.)]|step \d+:)\s+/i, '').trim());
  return lines.filter((line) => line !== '');
}

/** Fits an item of a list; a sentence in place of an object is its first text. */
function fitItem(value: unknown, item: JsonObject): unknown {
  const { properties } = item;
  if (item.type !== 'object' || typeof value !== 'string' || !isJsonObject(properties))
    return fitValue(value, item);
  const name = Object.keys(properties).find((key) => {
    const property = properties[key];
    return isJsonObject(property) && property.type === 'string' && property.default === undefined;
  });
  return name === undefined ? value : fitObject({ [name]: value }, item);
}

function fitObject(value: unknown, { properties, required }: JsonObject): unknown {
  if (!isJsonObject(value) || !isJsonObject(properties)) return value;
  const names = new Map(Object.keys(value).map((key) => [toName(key), key]));
  // An object of another kind must not become an empty one of this kind.
  if (!Object.keys(properties).some((name) => names.has(toName(name)))) return value;
  const needed = Array.isArray(required) ? required : [];
  const fitted: Record<string, unknown> = { ...value };
  for (const [name, property] of Object.entries(properties)) {
    if (!isJsonObject(property)) continue;
    const key = names.get(toName(name));
    const given = key === undefined ? undefined : value[key];
    if (key !== undefined && key !== name) delete fitted[key];
    const mayLack = property.default !== undefined || !needed.includes(name);
    if ((given === undefined || given === null) && mayLack) delete fitted[name];
    else fitted[name] = fitValue(given, property);
    if (fitted[name] === undefined) delete fitted[name];
  }
  return fitted;
}

/** Reads a reply in plain words where they leave no doubt: the one name of a list, or a stated answer. */
export function readPlainReply(text: string, schema: z.ZodType): JsonObject | undefined {
  const { properties } = z
    .record(z.string(), z.json())
    .parse(z.toJSONSchema(schema, { unrepresentable: 'any' }));
  if (!isJsonObject(properties)) return undefined;
  const [name = '', ...others] = Object.keys(properties);
  const { [name]: only, answer } = properties;
  if (others.length === 0 && isJsonObject(only) && Array.isArray(only.enum)) {
    const named = fitEnum(text, only.enum);
    return typeof named === 'string' && only.enum.includes(named) ? { [name]: named } : undefined;
  }
  const stated = answer === undefined || !hasStatedAnswer(text) ? null : cleanAnswer(text);
  return stated === null ? readListReply(text, schema) : { answer: stated };
}

/** Matches a line of a numbered or bulleted list, up to the text of its item. */
const LIST_ITEM =
  /^[ \t]*(?:(?:\*\*)?(?:step[ \t]+)?\d{1,2}(?:[.):]|[ \t]+[-–])|[-*•])(?:\*\*)?[ \t]+(\S.*)$/i;

/** Reads the items of a list in plain words, for a schema that requires nothing but one list. */
function readListReply(text: string, schema: z.ZodType): JsonObject | undefined {
  const { required } = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' });
  const [name, ...others] = required ?? [];
  if (name === undefined || others.length > 0) return undefined;
  const items = text
    .split('\n')
    .flatMap((line) => LIST_ITEM.exec(line)?.[1]?.replaceAll('**', '').trim() ?? []);
  return items.length < 2 ? undefined : { [name]: items };
}
