import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { formatForeignJson, keepForeignValue } from '@gaia-mesh/core/system/parse-json.ts';
import { legacy } from '../bare/legacy.ts';
import {
  isSettled,
  parseAnswer,
  partSchema,
  type StreamResponse,
  streamResponseSchema,
  TERMINAL_STATES,
} from '../model.ts';

type Part = Extract<StreamResponse, { message: unknown }>['message']['parts'][number];

/** A part whose text may come in pieces, which are joined once, at the end. */
interface BegunPart {
  readonly part: Part;
  readonly pieces: string[];
}

interface Artifact {
  readonly artifactId: string;
  readonly name?: unknown;
  readonly parts: BegunPart[];
}

/**
 * An agent's reply to one message, assembled from its answers and streamed events. One rule says what its words
 * are (docs/interoperate.md): chunks with `append` continue the artifact as they are, other ones replace it; the
 * answer is the last artifact with words, else the message that the task ended with. Words of a task that works
 * on are progress.
 */
export class AgentReply {
  taskId = '';
  contextId = '';
  state: string | undefined;
  readonly #lost: string[] = [];
  readonly #artifacts = new Map<string, Artifact>();
  #messageParts: readonly Part[] = [];
  #progress: readonly Part[] = [];

  /** Returns true if the task is over, or waits for the client. */
  get isSettled(): boolean {
    return this.state === 'MESSAGE' || isSettled(this.state ?? '');
  }

  get isOver(): boolean {
    return this.state === 'MESSAGE' || TERMINAL_STATES.has(this.state ?? '');
  }

  /** @throws MeshError `packet` for a value that is no answer */
  add(value: unknown): void {
    const update = readForeignUpdate(value, this.#lost);
    if ('message' in update) {
      const { parts, contextId, taskId } = update.message;
      this.state = 'MESSAGE';
      this.#messageParts = parts;
      this.contextId = contextId ?? this.contextId;
      this.taskId = taskId ?? this.taskId;
      return;
    }
    if ('task' in update) {
      const { id, contextId, status, artifacts = [] } = update.task;
      this.taskId = id;
      this.contextId = contextId;
      this.#take(status);
      for (const artifact of artifacts) this.#artifacts.set(artifact.artifactId, beginArtifact(artifact));
      return;
    }
    if ('statusUpdate' in update) {
      this.taskId = update.statusUpdate.taskId;
      this.#take(update.statusUpdate.status);
      return;
    }
    const { taskId, artifact, append } = update.artifactUpdate;
    this.taskId = taskId;
    const before = append === true ? this.#artifacts.get(artifact.artifactId) : undefined;
    if (before === undefined) this.#artifacts.set(artifact.artifactId, beginArtifact(artifact));
    else continueArtifact(before, artifact.parts);
  }

  /**
   * Returns the result: texts in their order, bytes of images, and all of it as data. The text names the
   * parts that it cannot hold.
   */
  result(): AgentResult {
    const texts: string[] = [];
    const images: Buffer[] = [];
    const shown = (part: Part): string | undefined => {
      const { text, raw, url, data, filename, mediaType = '' } = part;
      if (text !== undefined) return this.#keepText(text);
      if (data !== undefined) return formatForeignJson(keepData(data, this.#lost));
      if (url !== undefined) return `[link ${url}, which is not fetched]`;
      const bytes = Buffer.from(raw ?? '', 'base64');
      if (mediaType.startsWith('image/')) images.push(bytes);
      else if (mediaType.startsWith('text/')) return this.#keepText(bytes.toString());
      else return `[file ${filename ?? ''} ${mediaType}, ${bytes.length} bytes, which is left out]`;
      return undefined;
    };
    const say = (parts: readonly Part[]) => parts.flatMap((part) => shown(part) ?? []);
    let answer = '';
    const artifacts = [...this.#artifacts.values()].map(({ artifactId, name, parts }) => {
      const whole = parts.map(({ part, pieces }) =>
        part.text === undefined ? part : { ...part, text: pieces.join('') },
      );
      const words = say(whole);
      texts.push(...words);
      const spoken = whole.some(({ text }) => text !== undefined)
        ? whole.flatMap(({ text }) => text ?? []).join('\n')
        : words.join('\n');
      if (spoken.trim() !== '') answer = spoken.toWellFormed();
      return toArtifactData({ artifactId, name, parts: whole });
    });
    const isAnswered = answer !== '' || images.length > 0;
    // If a finished task has artifacts, the message at its end is no part of the answer.
    if (!isAnswered || this.state !== 'TASK_STATE_COMPLETED') texts.push(...say(this.#messageParts));
    if (!isAnswered) answer = texts.join('\n');
    const data: JsonObject = {
      state: this.state ?? 'unknown',
      task_id: this.taskId,
      context_id: this.contextId,
      answer,
      artifacts,
    };
    const progress = this.#progress.flatMap(({ text }) => text?.toWellFormed() ?? []).join(' ');
    return { texts, images, data, state: this.state ?? 'unknown', lost: this.#lost, progress };
  }

  #keepText(text: string): string {
    if (!text.isWellFormed()) this.#lost.push('half a character of a text became U+FFFD');
    return text.toWellFormed();
  }

  #take({
    state,
    message,
  }: {
    readonly state: string;
    readonly message?: { readonly parts: readonly Part[] } | undefined;
  }): void {
    this.state = state;
    if (message === undefined) return;
    if (isSettled(state)) this.#messageParts = message.parts;
    else this.#progress = message.parts;
  }
}

interface AgentResult {
  readonly texts: readonly string[];
  readonly images: readonly Uint8Array[];
  readonly data: JsonObject;
  readonly state: string;
  /** The parts that could not be kept, each with the reason. */
  readonly lost: readonly string[];
  /** The last words of the task while it worked. */
  readonly progress: string;
}

interface SentArtifact {
  readonly artifactId: string;
  readonly name?: unknown;
  readonly parts: readonly Part[];
}

const beginPart = (part: Part): BegunPart => ({ part, pieces: [part.text ?? ''] });

function beginArtifact({ artifactId, name, parts }: SentArtifact): Artifact {
  return { artifactId, name, parts: parts.map(beginPart) };
}

/** Adds a chunk: its first text continues the last one, and no byte of what came before is copied. */
function continueArtifact({ parts }: Artifact, [first, ...others]: readonly Part[]): void {
  if (first === undefined) return;
  const last = parts.at(-1);
  const isText = first.text !== undefined && first.filename === undefined;
  if (isText && last?.part.text !== undefined) last.pieces.push(first.text ?? '');
  else parts.push(beginPart(first));
  for (const part of others) parts.push(beginPart(part));
}

function toArtifactData({ artifactId, name, parts }: SentArtifact): JsonObject {
  const shown: Record<string, JsonValue> = { artifact_id: artifactId.toWellFormed() };
  if (typeof name === 'string' && name !== '') shown.name = name.toWellFormed();
  shown.parts = parts.map(toPartData);
  return shown;
}

function toPartData({ text, raw, url, data, filename = '', mediaType = '' }: Part): JsonObject {
  const shown: Record<string, JsonValue> = {};
  if (text !== undefined) shown.text = text.toWellFormed();
  if (raw !== undefined) shown.bytes = Buffer.byteLength(raw, 'base64');
  if (url !== undefined) shown.url = url.toWellFormed();
  if (data !== undefined) shown.data = keepData(data, []);
  if (filename !== '') shown.filename = filename.toWellFormed();
  if (mediaType !== '') shown.media_type = mediaType.toWellFormed();
  return shown;
}

/** The forms of 0.3, by their `kind`, and the members that they have become. */
const KINDS: Readonly<Record<string, string>> = {
  task: 'task',
  message: 'message',
  'status-update': 'statusUpdate',
  'artifact-update': 'artifactUpdate',
};

/**
 * Reads an answer or an event of a foreign agent, of A2A 1.0 or 0.3, as one of 1.0. Null counts as absent, and
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
    // No reader needs the other members.
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
    const own = isJsonObject(part) ? legacy.readPart(part) : part;
    if (partSchema.safeParse(own).success) read.push(own);
    else
      lost.push(
        `a part ${JSON.stringify(part).slice(0, 80)} has none of text, raw, url and data, or several`,
      );
  }
  return read;
}

/** Returns the data of a part as a packet can hold it. */
function keepData(data: unknown, lost: string[]): JsonValue {
  const kept = keepForeignValue(data);
  lost.push(...kept.lost.map((why) => `data.${why}`));
  return kept.value;
}
