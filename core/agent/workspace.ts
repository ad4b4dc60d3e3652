import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { ChatMessage, ModelExchange } from '../contracts/engine.ts';
import { MeshError } from '../contracts/errors.ts';
import { EXCHANGES_FILE, type ExchangeLine, hashText } from '../contracts/model-exchange.ts';
import type { JsonObject } from '../contracts/packet.ts';
import type { PromptPart } from '../contracts/prompt-part.ts';
import { USAGE_FILE, type Usage } from '../contracts/usage.ts';
import { writeWhole } from '../system/files/whole-file.ts';
import { Log } from '../system/log.ts';
import { listParts } from '../tokens/parts-of.ts';

/** Maximum tasks whose written texts are remembered; texts of an older task are written again. */
const MAX_TASKS = 64;
/**
 * Maximum characters of a kept text; longer ones are only named by their digest, because readers of the file
 * bound its lines.
 */
const MAX_TEXT_CHARACTERS = 250_000;

/** Origin of an exchange: the task, the role and the packet type that caused it. */
interface ExchangeOf {
  readonly taskId: string;
  readonly role: string;
  readonly packetType: string;
}

/** Writes exchanges with models as lines of `exchanges.log`, each text once per task. */
class ExchangeLog {
  readonly #log: Log;
  readonly #written = new Map<string, Set<string>>();

  constructor(file: string) {
    this.#log = new Log(file, { durability: 'each' });
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

  #messageLine(taskId: string, message: ChatMessage): ExchangeLine['messages'][number] {
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

/** Maximum tasks that `memory.json` remembers; the oldest are forgotten. */
const MAX_MEMORY_TASKS = 100;

/** Maximum age of `memory.json` in milliseconds; it is also written at the end. */
const SAVE_EVERY_MS = 1000;

const count = z.int().nonnegative();
const memorySchema = z.object({
  node_id: z.string(),
  tool: z.string(),
  engine: z.string(),
  packets_received: count,
  packets_sent: count,
  token_used: count,
  /** Number of restarts after the agent had died. */
  restarts: count.exactOptional(),
  /** The last tasks it worked on: the packet type it sent for each, and the tokens it took. */
  tasks: z.array(z.object({ task_id: z.string(), sent: z.string(), token_used: count })),
});

/** State that an agent keeps about itself in `memory.json`. */
type Memory = z.infer<typeof memorySchema>;

/**
 * An agent's private folder, `workspaces/<id>/`: `agent.log` (one JSON line per packet), `memory.json`,
 * `warnings.log` if something of other software was lost, `usage.log` if a model was asked (one JSON line per reply), `exchanges.log` (requests and replies), and
 * files of its tool. No other process writes there, and the agent writes nowhere else (MP-06).
 */
export class Workspace {
  readonly directory: string;
  readonly log: Log;
  readonly memory: Memory;
  readonly #records = new Map<string, Log>();
  #exchanges: ExchangeLog | undefined;
  #saving: NodeJS.Timeout | undefined;

  /** `resumes`: continue with the memory of an agent that died, if it left one. */
  constructor(
    directory: string,
    agent: { id: string; tool: string; engine: string },
    options: { readonly resumes?: boolean } = {},
  ) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
    this.log = new Log(path.join(directory, 'agent.log'));
    const fresh: Memory = {
      node_id: agent.id,
      tool: agent.tool,
      engine: agent.engine,
      packets_received: 0,
      packets_sent: 0,
      token_used: 0,
      tasks: [],
    };
    if (options.resumes === true) {
      const left = this.#left();
      this.memory = { ...fresh, ...left, restarts: (left?.restarts ?? 0) + 1 };
    } else {
      this.memory = fresh;
    }
    this.#save();
  }

  /** Appends one JSON line to a file of the tool. */
  record(fileName: string, entry: JsonObject): void {
    if (fileName === '' || path.basename(fileName) !== fileName || fileName.startsWith('.')) {
      throw new MeshError('io', `a record needs a plain file name, not ${JSON.stringify(fileName)}`);
    }
    this.#recordOf(fileName).info(entry);
  }

  /**
   * Records what a model's reply took for a task. It is in the file before any result of the reply is sent,
   * so that it is there when the task's end is reported, even if the agent was killed or the task's packets
   * never left.
   */
  noteUsage(taskId: string, usage: Usage): void {
    this.#recordOf(USAGE_FILE).info({ task_id: taskId, ...usage });
  }

  /**
   * Records a whole exchange with a model. Call it before {@link noteUsage}: a reader that finds the usage
   * then finds the exchange, too.
   */
  noteExchange(of: ExchangeOf, exchange: ModelExchange): void {
    this.#exchanges ??= new ExchangeLog(path.join(this.directory, EXCHANGES_FILE));
    this.#exchanges.note(of, exchange);
  }

  /** Records that packets of type `sent` were sent for a task. */
  remember(taskId: string, sent: string, tokens: number): void {
    this.memory.packets_sent += 1;
    this.memory.token_used += tokens;
    this.memory.tasks.push({ task_id: taskId, sent, token_used: tokens });
    if (this.memory.tasks.length > MAX_MEMORY_TASKS) this.memory.tasks.shift();
    this.#saving ??= setTimeout(() => this.#save(), SAVE_EVERY_MS).unref();
  }

  close(): void {
    this.#save();
    this.log.close();
    this.#exchanges?.close();
    for (const record of this.#records.values()) record.close();
    this.#records.clear();
  }

  #recordOf(fileName: string): Log {
    let record = this.#records.get(fileName);
    if (record === undefined) {
      // The record of a task's work is in the file even if the task fails or times out.
      record = new Log(path.join(this.directory, fileName), { durability: 'each' });
      this.#records.set(fileName, record);
    }
    return record;
  }

  /** Returns the memory that an earlier agent left, if it is there and whole. */
  #left(): Memory | undefined {
    try {
      return memorySchema.parse(JSON.parse(readFileSync(path.join(this.directory, 'memory.json'), 'utf8')));
    } catch {
      return undefined; // The agent died before it wrote one.
    }
  }

  #save(): void {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    const file = path.join(this.directory, 'memory.json');
    writeWhole(file, `${JSON.stringify(this.memory, null, 2)}\n`);
  }
}
