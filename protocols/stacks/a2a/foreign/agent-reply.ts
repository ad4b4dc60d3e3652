import type { JsonObject, JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { isSettled, type StreamResponse, TERMINAL_STATES } from '../model.ts';

type Part = Extract<StreamResponse, { message: unknown }>['message']['parts'][number];
interface Artifact {
  readonly artifactId: string;
  readonly parts: readonly Part[];
  readonly name?: unknown;
}

/** An agent's reply to one message, assembled from its answers and streamed events. */
export class AgentReply {
  taskId = '';
  contextId = '';
  state: string | undefined;
  readonly #artifacts = new Map<string, Artifact>();
  #messageParts: readonly Part[] = [];

  /** Returns true if the task is over, or waits for the client. */
  get isSettled(): boolean {
    return this.state === 'MESSAGE' || isSettled(this.state ?? '');
  }

  get isOver(): boolean {
    return this.state === 'MESSAGE' || TERMINAL_STATES.has(this.state ?? '');
  }

  add(update: StreamResponse): void {
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
      for (const artifact of artifacts) this.#artifacts.set(artifact.artifactId, artifact);
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
    const parts = before === undefined ? artifact.parts : [...before.parts, ...artifact.parts];
    this.#artifacts.set(artifact.artifactId, { ...artifact, parts });
  }

  /**
   * Returns the result: texts in their order, bytes of images, and all of it as data. The text names the
   * parts that it cannot hold.
   */
  result(): AgentResult {
    const texts: string[] = [];
    const images: Buffer[] = [];
    const shown = (part: Part) => {
      const { text, raw, url, data, filename, mediaType = '' } = part;
      if (text !== undefined) texts.push(text);
      else if (data !== undefined) texts.push(JSON.stringify(data));
      else if (url !== undefined) texts.push(`[link ${url}, which is not fetched]`);
      else if (raw !== undefined) {
        const bytes = Buffer.from(raw, 'base64');
        if (mediaType.startsWith('image/')) images.push(bytes);
        else if (mediaType.startsWith('text/')) texts.push(bytes.toString());
        else texts.push(`[file ${filename ?? ''} ${mediaType}, ${bytes.length} bytes, which is left out]`);
      }
    };
    // If a finished task has artifacts, its progress messages are no part of the answer.
    const artifacts = [...this.#artifacts.values()];
    for (const { parts } of artifacts) parts.forEach(shown);
    if (artifacts.length === 0 || this.state !== 'TASK_STATE_COMPLETED') this.#messageParts.forEach(shown);
    const data: JsonObject = {
      state: this.state ?? 'unknown',
      task_id: this.taskId,
      context_id: this.contextId,
      artifacts: artifacts.map(toArtifactData),
    };
    return { texts, images, data, state: this.state ?? 'unknown' };
  }

  #take({
    state,
    message,
  }: {
    readonly state: string;
    readonly message?: { readonly parts: readonly Part[] } | undefined;
  }): void {
    this.state = state;
    if (message !== undefined) this.#messageParts = message.parts;
  }
}

export interface AgentResult {
  readonly texts: readonly string[];
  readonly images: readonly Uint8Array[];
  readonly data: JsonObject;
  readonly state: string;
}

function toArtifactData({ artifactId, name, parts }: Artifact): JsonObject {
  const shown: Record<string, JsonValue> = { artifact_id: artifactId };
  if (typeof name === 'string' && name !== '') shown.name = name;
  shown.parts = parts.map(toPartData);
  return shown;
}

function toPartData({ text, raw, url, data, filename = '', mediaType = '' }: Part): JsonObject {
  const shown: Record<string, JsonValue> = {};
  if (text !== undefined) shown.text = text;
  if (raw !== undefined) shown.bytes = Buffer.byteLength(raw, 'base64');
  if (url !== undefined) shown.url = url;
  // Data from JSON is a JSON value.
  if (data !== undefined) shown.data = data as JsonValue;
  if (filename !== '') shown.filename = filename;
  if (mediaType !== '') shown.media_type = mediaType;
  return shown;
}
