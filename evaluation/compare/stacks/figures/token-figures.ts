import { setImmediate } from 'node:timers/promises';
import type { ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { meshCard } from '@gaia-mesh/stacks/a2a/card.ts';
import { encode as encodeToon } from '@toon-format/toon';
import type { StacksFile } from './stacks-file.ts';

/** Counts the tokens of a text as a model does. */
type Count = (text: string) => number;

/**
 * Counts the tokens that a model reads, by protocol: the tool definitions that its host shows it, and the tools' answers. No model reads
 * the protocol around them, so it is in no figure.
 *
 * @param signal ends the count: what was counted by then is returned
 */
export async function countTokenFigures(
  recording: Recording,
  tools: readonly ToolDefinition[],
  signal: AbortSignal,
): Promise<StacksFile['tokens']> {
  // The 2 MB of tables are loaded on demand.
  const { encodeO200k } = await import('@gaia-mesh/core/tokens/o200k.ts');
  const payloads = recording.packets.map(({ packet }) => packet.payload);
  const figures: StacksFile['tokens'] = {
    encoding: 'o200k_base',
    definitions: countDefinitions(tools, encodeO200k),
    results: [],
    shapes: [],
  };
  const shapes = new Map<string, StacksFile['tokens']['shapes'][number]>();
  const sums = { once: 0, both: 0 };
  for (const payload of payloads) {
    // Between payloads the process takes signals.
    await setImmediate();
    if (signal.aborted) return figures;
    const compact = JSON.stringify(payload);
    const once = encodeO200k(compact);
    sums.once += once;
    sums.both += encodeO200k(`${compact}\n${compact}`);
    const shape = classifyShape(payload);
    const known = shapes.get(shape) ?? { shape, payloads: 0, bytes: 0, compact: 0, pretty: 0, toon: 0 };
    shapes.set(shape, {
      shape,
      payloads: known.payloads + 1,
      bytes: known.bytes + Buffer.byteLength(compact),
      compact: known.compact + once,
      pretty: known.pretty + encodeO200k(JSON.stringify(payload, null, 2)),
      toon: known.toon + encodeO200k(encodeToon(payload)),
    });
  }
  return {
    ...figures,
    results: [
      // The same payload as text, as a structure, or as both, which is redundant.
      { form: 'text', tokens: sums.once },
      { form: 'structured', tokens: sums.once },
      { form: 'both', tokens: sums.both },
    ],
    shapes: [...shapes.values()].sort((a, b) => b.bytes - a.bytes),
  };
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
    const length = JSON.stringify(items).length;
    if (items.length >= MIN_ROWS && isTable(items)) return [{ kind: 'table', length }];
    const isPlain = items.every((item) => typeof item !== 'object' && String(item).length < PROSE_LENGTH);
    if (items.length >= MIN_ROWS && isPlain) return [{ kind: 'list', length }];
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
