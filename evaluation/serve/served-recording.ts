import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import type { RecordedPacket, Recording } from '@gaia-mesh/core/recording/recording.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { readForeignUpdate } from '@gaia-mesh/stacks/a2a/foreign/agent-reply.ts';
import type { StreamResponse } from '@gaia-mesh/stacks/a2a/model.ts';
import { type AgentWork, createTextMessage, type WorkEvent } from '@gaia-mesh/stacks/a2a/work.ts';
import { createFaultError } from '@gaia-mesh/stacks/json-rpc.ts';
import { McpServer } from '@gaia-mesh/stacks/mcp/server/mcp-server.ts';
import type { McpTool, ToolResult } from '@gaia-mesh/stacks/mcp/tools.ts';
import * as z from 'zod';
import { importTraffic } from '../traffic/import-traffic.ts';
import type { Answer, AskRequest } from './ask.ts';
import { askWork, buildTeamCard } from './ask-work.ts';
import { listRecorded, SEND, toMessageRequest, toQuestionRequest } from './recorded-exchanges.ts';
import { RecordedReplies } from './recorded-replies.ts';
import { askTool, type serveOffer } from './serve-team.ts';
import { Turns } from './turns.ts';

type Offer = Parameters<typeof serveOffer>[0];

/** Bounds: requests at once and waiting, bytes of a request, and the longest recorded delay that is repeated. */
const LIMITS = { tasks: 256, waiting: 256, bytes: 1024 * 1024, delayMs: 10 * 60_000 } as const;

/** Tells the user how a request was found in the recording, or why it was not. */
type Note = (text: string) => void;

type Exchange = ReturnType<typeof listRecorded>['exchanges'][number];
type Replies = Exchange['reply'];

/**
 * A recording that answers as a server: the tools, resources and prompts of its MCP traffic, the messages of its
 * A2A traffic, the tools that its models called, and the questions of its tasks.
 */
export class ServedRecording {
  /** Number of recorded requests with replies, by method or tool. */
  readonly counts: ReadonlyMap<string, number>;
  readonly #name: string;
  readonly #packets: readonly RecordedPacket[];
  readonly #exchanges: readonly Exchange[];
  readonly #replies: RecordedReplies<Replies>;
  readonly #questions: RecordedReplies<Answer>;
  readonly #turns = new Turns(LIMITS);
  readonly #isDelayed: boolean;
  readonly #note: Note;
  readonly #used = { same: 0, byRule: 0, missed: 0 };

  /**
   * Loads a recording of ours, or a log that `import` reads.
   *
   * @throws MeshError `config` for a file that is neither
   */
  static async load(
    file: string,
    options: { readonly isDelayed: boolean; readonly note: Note },
  ): Promise<ServedRecording> {
    return new ServedRecording(await readCapture(file), path.basename(file), options);
  }

  private constructor(
    { packets }: Recording,
    name: string,
    { isDelayed, note }: { readonly isDelayed: boolean; readonly note: Note },
  ) {
    this.#name = name;
    this.#packets = packets;
    const { exchanges, questions } = listRecorded(packets);
    this.#exchanges = exchanges;
    this.#replies = new RecordedReplies(exchanges);
    this.#questions = new RecordedReplies(questions);
    this.#isDelayed = isDelayed;
    this.#note = note;
    const all = [...exchanges, ...questions];
    this.counts = new Map(
      [...Map.groupBy(all, ({ what }) => what)].map(([what, same]) => [
        what,
        new Set(same.map(({ where }) => where)).size,
      ]),
    );
  }

  /** Number of requests that got the reply to the same request, the reply to one that is the same by rule, or none. */
  get used(): { readonly same: number; readonly byRule: number; readonly missed: number } {
    return this.#used;
  }

  /**
   * Creates the MCP server and the A2A agent that replay the recording.
   *
   * @throws MeshError `config` for a recording without any request of the protocol
   */
  offer({ mcp, a2a }: { readonly mcp: boolean; readonly a2a: boolean }, hasToken: boolean): Offer {
    const hasAsk = this.counts.has('ask');
    const hasMcp = hasAsk || this.#exchanges.some(({ what }) => what !== SEND);
    const hasMessages = this.counts.has(SEND);
    const hasA2a = hasAsk || hasMessages;
    const refuse = (protocol: string, other: string) =>
      new MeshError(
        'config',
        `the recording has no request that a client of ${protocol} sends${other === '' ? '' : `: serve it with ${other}`}`,
      );
    if (mcp && !hasMcp) throw refuse('MCP', hasA2a ? '--a2a' : '');
    if (a2a && !hasA2a) throw refuse('A2A', hasMcp ? '--mcp http' : '');
    const isAny = !mcp && !a2a;
    if (isAny && !hasMcp && !hasA2a) throw refuse('MCP or A2A', '');
    const about = `Replies that were recorded of ${this.#name}`;
    return {
      mcp: mcp || (isAny && hasMcp) ? this.#createMcpServer(hasAsk) : undefined,
      a2a:
        a2a || (isAny && hasA2a)
          ? {
              card: buildTeamCard(this.#name, about, packageVersion, hasToken),
              work: hasMessages ? this.#answerMessage : askWork({ ask: this.#ask }),
            }
          : undefined,
      bytes: LIMITS.bytes,
    };
  }

  readonly #find = <Reply>(
    replies: RecordedReplies<Reply>,
    { what, request }: { readonly what: string; readonly request: JsonValue },
  ): Reply => {
    try {
      const { reply, rules } = replies.find(what, request);
      this.#used[rules.length === 0 ? 'same' : 'byRule'] += 1;
      if (rules.length > 0) this.#note(`${what}: the recorded request but for ${rules.join(', ')}`);
      return reply;
    } catch (error) {
      this.#used.missed += 1;
      this.#note(toErrorMessage(error));
      throw error;
    }
  };

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isDelayed || ms <= 0) return;
    await delay(Math.min(ms, LIMITS.delayMs), undefined, { signal });
  }

  readonly #ask = async (request: AskRequest, signal: AbortSignal): Promise<Answer> => {
    const answer = this.#find(this.#questions, toQuestionRequest(request));
    const end = await this.#turns.take(signal);
    try {
      await this.#wait(answer.elapsed_ms, signal);
      return answer;
    } finally {
      end();
    }
  };

  /** Returns the recorded result of a request of MCP, after the recorded time. */
  async #reply(what: string, request: JsonValue, signal: AbortSignal): Promise<JsonObject> {
    let replies: Replies;
    try {
      replies = this.#find(this.#replies, { what, request });
    } catch (error) {
      throw createFaultError('invalidParams', toErrorMessage(error));
    }
    const end = await this.#turns.take(signal);
    try {
      const last = replies.at(-1);
      await this.#wait(last?.afterMs ?? 0, signal);
      const { error, ...result } = last?.payload ?? {};
      if (!last?.type.endsWith('.error')) return last?.payload ?? {};
      const { code, message, data } = isJsonObject(error) ? error : result;
      throw createFaultError(
        typeof code === 'number' ? code : 'internal',
        typeof message === 'string' ? message : 'the recorded request failed',
        isJsonObject(data) ? data : undefined,
      );
    } finally {
      end();
    }
  }

  #createMcpServer(hasAsk: boolean): McpServer {
    const { serverInfo, instructions, capabilities } = this.#findResult('initialize');
    const { name, version } = isJsonObject(serverInfo) ? serverInfo : {};
    const others = [...this.counts.keys()].filter((what) => /^\w+\/\w+$/.test(what));
    const never = new AbortController().signal;
    // A capability without a recorded request would make clients ask for what is not there.
    const kept = Object.entries(isJsonObject(capabilities) ? capabilities : {}).filter(
      ([name]) => name === 'logging' || others.some((method) => name.startsWith(method.replace(/\/.*$/, ''))),
    );
    return new McpServer({
      tools: [
        ...this.#listTools(),
        ...(hasAsk ? [askTool({ name: this.#name, ask: this.#ask }, 'Answers the recorded questions')] : []),
      ],
      methods: {
        // A setting of the client, which changes no reply.
        'logging/setLevel': async () => ({}),
        ...Object.fromEntries(
          others.map((method) => [method, async (params: JsonObject) => this.#reply(method, params, never)]),
        ),
      },
      capabilities: Object.fromEntries(kept),
      info: {
        name: typeof name === 'string' ? name : this.#name,
        version: typeof version === 'string' ? version : packageVersion,
      },
      ...(typeof instructions === 'string' && { instructions }),
      takesLegacy: true,
    });
  }

  #findResult(method: string): JsonObject {
    return this.#packets.find(({ packet }) => packet.type === `${method}.result`)?.packet.payload ?? {};
  }

  /** Lists the recorded tools as their server listed them, and those that were called without being listed. */
  #listTools(): McpTool[] {
    const entries = new Map<string, JsonObject>();
    for (const { what } of this.#exchanges) {
      const [, name] = /^tools\/call (.+)$/.exec(what) ?? [];
      if (name !== undefined) entries.set(name, { name, inputSchema: { type: 'object' } });
    }
    const listings = this.#packets.filter(({ packet }) => packet.type === 'tools/list.result');
    for (const { packet } of listings)
      for (const entry of isJsonList(packet.payload.tools) ? packet.payload.tools : [])
        if (isJsonObject(entry) && typeof entry.name === 'string') entries.set(entry.name, entry);
    return [...entries].map(([name, entry]) => ({
      name,
      description: '',
      inputSchema: z.looseObject({}),
      entry,
      call: async (args, { signal }): Promise<ToolResult> =>
        Object(await this.#reply(`tools/call ${name}`, isJsonObject(args) ? args : {}, signal)),
    }));
  }

  /** Answers a message of A2A with the recorded events, each after its recorded time. */
  readonly #answerMessage: AgentWork = async ({ message, taskId, contextId, signal }, emit) => {
    const reject = (why: string) =>
      emit({
        kind: 'status',
        state: 'TASK_STATE_REJECTED',
        message: createTextMessage(why, taskId, contextId),
      });
    let replies: Replies;
    try {
      replies = this.#find(this.#replies, toMessageRequest(message));
    } catch (error) {
      return reject(toErrorMessage(error));
    }
    const end = await this.#turns.take(signal);
    try {
      let waitedMs = 0;
      for (const { type, payload, afterMs } of replies) {
        await this.#wait(afterMs - waitedMs, signal);
        waitedMs = afterMs;
        if (type.endsWith('.error'))
          return reject(`recorded error: ${JSON.stringify(payload.error ?? payload)}`);
        for (const event of toEvents(readForeignUpdate(payload, []))) emit(event);
      }
    } finally {
      end();
    }
  };
}

async function readCapture(file: string): Promise<Recording> {
  let why: string;
  try {
    return await readRecording(file);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    why = error.message;
  }
  try {
    return importTraffic(file, null).recording;
  } catch (error) {
    if (!(error instanceof MeshError) || error.message === why || !existsSync(file)) throw error;
    throw new MeshError('config', `${error.message}; nor is it a recording of ours: ${why}`, {
      cause: error,
    });
  }
}

function toEvents(update: StreamResponse): WorkEvent[] {
  if ('message' in update) return [{ kind: 'message', message: update.message }];
  if ('artifactUpdate' in update) {
    const { artifact, append = false, lastChunk = false } = update.artifactUpdate;
    return [{ kind: 'artifact', artifact, append, lastChunk }];
  }
  const { status, artifacts = [] } =
    'task' in update ? update.task : { status: update.statusUpdate.status, artifacts: [] };
  const state = stateSchema.safeParse(status.state).data;
  return [
    ...artifacts.map((artifact) => ({ kind: 'artifact' as const, artifact, lastChunk: true })),
    ...(state === undefined ? [] : [{ kind: 'status' as const, state, message: status.message }]),
  ];
}

const stateSchema = z.enum([
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
]);
