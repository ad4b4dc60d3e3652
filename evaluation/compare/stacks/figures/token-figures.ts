import { setImmediate } from 'node:timers/promises';
import type { ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { meshCard } from '@gaia-mesh/stacks/a2a/card.ts';
import { encode as encodeToon } from '@toon-format/toon';
import type { StacksComparison } from '../../comparison-file.ts';

/** Counts the tokens of a text as a model does. */
type Count = (text: string) => number;

/** Time to count tokens of payloads, which begins when the measurement has ended and was written. */
const COUNT_MS = { least: 2_000, most: 5_000 };
/** Share of the measurement's time that counting may add to it. */
const COUNT_SHARE = 0.1;

/**
 * Counts the tokens that a model reads, by protocol: the tool definitions that its host shows it, and the tools' answers. No model reads
 * the protocol around them, so it is in no figure. Payloads for which there is no time are left out, and counted.
 */
export async function countTokenFigures(
  recording: Recording,
  { tools, budgetMs }: { readonly tools: readonly ToolDefinition[]; readonly budgetMs: number },
  signal: AbortSignal,
  isTimeUp = createTimeLimit(budgetMs),
): Promise<StacksComparison['tokens']> {
  // The 2 MB of tables are loaded on demand.
  const { o200k } = await import('@gaia-mesh/core/tokens/o200k.ts');
  const count = (text: string) => o200k.count(text);
  const counted: CountedPayload[] = [];
  for (const { packet } of recording.packets) {
    const own = await countPayload(packet.payload, count, () => signal.aborted || isTimeUp());
    if (own === undefined) break;
    counted.push(own);
  }
  const left = recording.packets.length - counted.length;
  return {
    encoding: 'o200k_base',
    definitions: countDefinitions(tools, count),
    results: sumResults(counted),
    shapes: sumShapes(counted),
    not_counted: left === 0 ? undefined : left,
  };
}

function createTimeLimit(budgetMs: number): () => boolean {
  const endMs = performance.now() + Math.min(COUNT_MS.most, Math.max(COUNT_MS.least, COUNT_SHARE * budgetMs));
  return () => performance.now() > endMs;
}

/** Counts the definitions of the same tools as a client of each protocol receives them. */
function countDefinitions(tools: readonly ToolDefinition[], tokensOf: Count) {
  const asMcp = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    inputSchema: parameters,
  }));
  const asSkills = tools.map(({ name, description }) => ({ id: name, name, description, tags: [] }));
  const { name, description, version, defaultInputModes, defaultOutputModes } = meshCard;
  const card = { name, description, version, defaultInputModes, defaultOutputModes, skills: asSkills };
  const figure = (what: string, value: JsonValue) => {
    const text = JSON.stringify(value);
    return { what, items: tools.length, bytes: Buffer.byteLength(text), tokens: tokensOf(text) };
  };
  return [
    figure('MCP tools/list: name, description and schema of each tool', asMcp),
    figure('A2A agent card: the same tools as skills, which have no schema', card),
  ];
}

interface CountedPayload {
  readonly shape: string;
  readonly bytes: number;
  /** Tokens as compact JSON, and as text and structure, which is redundant. */
  readonly compact: number;
  readonly inBoth: number;
  readonly pretty: number;
  readonly toon: number;
}

/** Counts the tokens of a payload; returns undefined if `isOver` before all are counted. */
async function countPayload(
  payload: JsonObject,
  tokensOf: Count,
  isOver: () => boolean,
): Promise<CountedPayload | undefined> {
  const compact = JSON.stringify(payload);
  const sums: number[] = [];
  for (const write of [
    () => compact,
    () => `${compact}\n${compact}`,
    () => JSON.stringify(payload, null, 2),
    () => encodeToon(payload),
  ]) {
    let sum = 0;
    for (const slice of sliceText(write())) {
      // Between slices the process takes signals.
      await setImmediate();
      if (isOver()) return undefined;
      sum += tokensOf(slice);
    }
    sums.push(sum);
  }
  const [once = 0, inBoth = 0, pretty = 0, toon = 0] = sums;
  const bytes = Buffer.byteLength(compact);
  return { shape: classifyShape(payload), bytes, compact: once, inBoth, pretty, toon };
}

/** Maximum characters that are counted at once, which takes less than a second on a busy machine. */
const SLICE_CHARACTERS = 128 * 1024;

/**
 * Yields a long text in slices. Each ends in front of a space between words, where a token ends as well; a text without such a
 * space may count a token more for each slice.
 */
function* sliceText(text: string): Generator<string> {
  for (let begin = 0; begin < text.length; ) {
    const most = begin + SLICE_CHARACTERS;
    let end = Math.min(most, text.length);
    for (let at = end; end < text.length && at > begin + SLICE_CHARACTERS / 2; at--) {
      if (!/^\S \p{L}/u.test(text.slice(at - 1, at + 2))) continue;
      end = at;
      break;
    }
    // A pair of surrogates stays together.
    if (end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1))) end -= 1;
    yield text.slice(begin, end);
    begin = end;
  }
}

const addUp = (counted: readonly CountedPayload[], key: 'bytes' | 'compact' | 'inBoth' | 'pretty' | 'toon') =>
  counted.reduce((total, own) => total + own[key], 0);

/** Sums the payloads as results of an MCP tool: as text, as a structure, or as both, which is redundant. */
function sumResults(counted: readonly CountedPayload[]) {
  if (counted.length === 0) return [];
  const once = addUp(counted, 'compact');
  return [
    { form: 'text', tokens: once },
    { form: 'structured', tokens: once },
    { form: 'both', tokens: addUp(counted, 'inBoth') },
  ];
}

/** Sums the payloads as compact JSON, as JSON with line breaks, and as TOON, by their shape. */
function sumShapes(counted: readonly CountedPayload[]) {
  return [...Map.groupBy(counted, ({ shape }) => shape)]
    .map(([shape, own]) => ({
      shape,
      payloads: own.length,
      bytes: addUp(own, 'bytes'),
      compact: addUp(own, 'compact'),
      pretty: addUp(own, 'pretty'),
      toon: addUp(own, 'toon'),
    }))
    .sort((a, b) => b.bytes - a.bytes);
}

/** Share of a payload that has to be prose, a table or a list to give it that shape. */
const MOST = 0.6;
const MIN_ROWS = 3;

/** Classifies the shape of most of a payload. */
function classifyShape(payload: JsonObject): string {
  const all = JSON.stringify(payload).length;
  const parts = listValueParts(payload);
  const share = (kind: Part['kind']) =>
    parts.reduce((sum, part) => sum + (part.kind === kind ? part.length : 0), 0) / all;
  if (share('table') > MOST) return 'tables: rows with the same keys';
  if (share('list') > MOST) return 'lists of texts and numbers';
  if (share('prose') > MOST) return 'prose';
  return 'records of few fields';
}

interface Part {
  readonly kind: 'table' | 'list' | 'prose';
  readonly length: number;
}

/** Minimum characters of prose; shorter texts are names and words. */
const PROSE_LENGTH = 80;

function listValueParts(value: JsonValue): Part[] {
  if (typeof value === 'string') {
    return value.length >= PROSE_LENGTH ? [{ kind: 'prose', length: value.length }] : [];
  }
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = value;
    const toParts = (kind: Part['kind']) => [{ kind, length: JSON.stringify(items).length }];
    if (items.length >= MIN_ROWS && isTable(items)) return toParts('table');
    const isPlain = items.every((item) => typeof item !== 'object' && String(item).length < PROSE_LENGTH);
    if (items.length >= MIN_ROWS && isPlain) return toParts('list');
    return items.flatMap(listValueParts);
  }
  return isJsonObject(value) ? Object.values(value).flatMap(listValueParts) : [];
}

/** Returns true if the rows are objects with the same keys, or lists of the same length, of plain values. */
function isTable(items: readonly JsonValue[]): boolean {
  const keys = items.map((item) => {
    if (typeof item !== 'object' || item === null) return undefined;
    const isPlain = Object.values(item).every((cell) => typeof cell !== 'object' || cell === null);
    return isPlain ? Object.keys(item).join() : undefined;
  });
  return keys[0] !== undefined && keys.every((own) => own === keys[0]);
}
