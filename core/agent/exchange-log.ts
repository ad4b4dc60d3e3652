import type { ChatMessage, ModelExchange } from '../contracts/engine.ts';
import { type ExchangeLine, hashText, type MessageLine } from '../contracts/model-exchange.ts';
import type { PromptPart } from '../contracts/prompt-part.ts';
import { type Log, openLog } from '../system/log.ts';
import { listParts } from '../tokens/parts-of.ts';

/** Maximum tasks whose written texts are remembered; texts of an older task are written again. */
const MAX_TASKS = 64;
/**
 * Maximum characters of a kept text; longer ones are only named by their digest, because readers of the file
 * bound its lines.
 */
const MAX_TEXT_CHARACTERS = 250_000;

/** Origin of an exchange: the task, the role and the packet type that caused it. */
export interface ExchangeOf {
  readonly taskId: string;
  readonly role: string;
  readonly packetType: string;
}

/** Writes exchanges with models as lines of `exchanges.log`, each text once per task. */
export class ExchangeLog {
  readonly #log: Log;
  readonly #written = new Map<string, Set<string>>();

  constructor(file: string) {
    this.#log = openLog(file, { durability: 'each' });
  }

  /** Appends an exchange; it is in the file when this returns. */
  note({ taskId, role, packetType }: ExchangeOf, exchange: ModelExchange): void {
    const { key, model, messages, tools, schema, reply, promptTokens, completionTokens } = exchange;
    const line: Omit<ExchangeLine, 'task_id'> = {
      role,
      packet_type: packetType,
      key,
      model,
      messages: messages.map((message) => this.#messageLine(taskId, message)),
      tools: tools.length === 0 ? undefined : this.#text(taskId, JSON.stringify(tools)),
      schema: schema && this.#text(taskId, JSON.stringify(schema)),
      reply: {
        content: reply.content,
        reasoning: reply.reasoning || undefined,
        tool_calls: [...reply.toolCalls],
        finish: reply.finish,
      },
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      counts: exchange.counts,
      started_us: exchange.startedUs,
      ended_us: exchange.endedUs,
    };
    this.#log.info({ task_id: taskId, ...line });
  }

  close(): void {
    this.#log.close();
  }

  #messageLine(taskId: string, message: ChatMessage): MessageLine {
    const images = message.role === 'user' ? (message.images ?? []) : [];
    return {
      role: message.role,
      parts: listParts(message).map(({ kind, text }: PromptPart) => [kind, this.#text(taskId, text)]),
      tool_calls: message.role === 'assistant' ? message.toolCalls?.slice() : undefined,
      tool_call_id: message.role === 'tool' ? message.toolCallId : undefined,
      name: message.role === 'tool' ? message.name : undefined,
      images: images.length === 0 ? undefined : images.map(({ base64 }) => hashText(base64)),
    };
  }

  /** Returns the digest of a text, after writing the text if the file does not have it yet. */
  #text(taskId: string, text: string): string {
    const digest = hashText(text);
    let written = this.#written.get(taskId);
    if (written === undefined) {
      const [oldest] = this.#written.keys();
      if (this.#written.size >= MAX_TASKS && oldest !== undefined) this.#written.delete(oldest);
      written = new Set();
      this.#written.set(taskId, written);
    }
    if (!written.has(digest)) {
      written.add(digest);
      if (text.length <= MAX_TEXT_CHARACTERS) this.#log.info({ task_id: taskId, digest, text });
    }
    return digest;
  }
}
