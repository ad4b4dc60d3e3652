import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { keepForeignValue } from '@gaia-mesh/core/system/parse-json.ts';
import { parseAnswer, partSchema, type StreamResponse, streamResponseSchema } from '../model.ts';

/** The forms of 0.3, by their `kind`, and the members that they have become. */
const KINDS: Readonly<Record<string, string>> = {
  task: 'task',
  message: 'message',
  'status-update': 'statusUpdate',
  'artifact-update': 'artifactUpdate',
};

/**
 * Reads an answer or an event of a foreign agent, of A2A 1.0 or 0.3, as one of 1.0. Null is as good as absent, and
 * a part that cannot be read costs that part alone, which is added to `lost`.
 *
 * @throws MeshError `packet` for a value that is none of the forms
 */
export function readForeignUpdate(value: unknown, lost: string[]): StreamResponse {
  const kind = isJsonObject(value) && typeof value.kind === 'string' ? KINDS[value.kind] : undefined;
  const update = kind === undefined ? value : { [kind]: value };
  // Texts stay as they are: half a character may be completed by the next chunk.
  return parseAnswer(streamResponseSchema, toKnown(update, lost), 'answer');
}

function toKnown(value: unknown, lost: string[]): unknown {
  if (!isJsonObject(value)) return value;
  const known: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === null || key === 'kind') continue;
    if (key === 'parts') known.parts = readParts(member, lost);
    else if (key === 'artifacts')
      known.artifacts = isJsonList(member) ? member.map((one) => toKnown(one, lost)) : [];
    else if (key === 'state' && typeof member === 'string') known.state = toState(member);
    else if (key === 'role') known.role = /user/i.test(String(member)) ? 'ROLE_USER' : 'ROLE_AGENT';
    // What is not read here need not be understood.
    else if (key !== 'metadata' && key !== 'history')
      known[key] = INSIDE.has(key) ? toKnown(member, lost) : member;
  }
  if (isMessage(known)) {
    known.messageId ??= 'unnamed';
    known.role ??= 'ROLE_AGENT';
  }
  if (isJsonObject(known.status)) {
    known.contextId ??= '';
    const { message } = known.status;
    // A message without words says nothing.
    if (isJsonObject(message) && isJsonList(message.parts) && message.parts.length === 0)
      known.status = { state: known.status.state };
  }
  return known;
}

const INSIDE: ReadonlySet<string> = new Set([
  'task',
  'message',
  'statusUpdate',
  'artifactUpdate',
  'status',
  'artifact',
]);

const isMessage = (value: object) => 'parts' in value && !('artifactId' in value);

/** 0.3 writes `input-required` for `TASK_STATE_INPUT_REQUIRED`. */
function toState(state: string): string {
  return /^[a-z-]+$/.test(state) ? `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}` : state;
}

function readParts(parts: JsonValue, lost: string[]): JsonValue[] {
  const read: JsonValue[] = [];
  for (const part of isJsonList(parts) ? parts : [parts]) {
    const own = isJsonObject(part) ? toPart(part) : part;
    if (partSchema.safeParse(own).success) read.push(own);
    else
      lost.push(
        `a part ${JSON.stringify(part).slice(0, 80)} has none of text, raw, url and data, or several`,
      );
  }
  return read;
}

function toPart({ kind: _kind, file, ...part }: JsonObject): JsonObject {
  const own: Record<string, JsonValue> = {};
  for (const [key, member] of Object.entries(part)) if (member !== null) own[key] = member;
  if (!isJsonObject(file)) return own;
  if (typeof file.bytes === 'string') own.raw = file.bytes;
  else if (typeof file.uri === 'string') own.url = file.uri;
  if (typeof file.name === 'string') own.filename = file.name;
  if (typeof file.mimeType === 'string') own.mediaType = file.mimeType;
  return own;
}

/** Returns the data of a part as a packet can hold it. */
export function keepData(data: unknown, lost: string[]): JsonValue {
  const kept = keepForeignValue(data);
  lost.push(...kept.lost.map((why) => `data.${why}`));
  return kept.value;
}
