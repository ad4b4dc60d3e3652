import path from 'node:path';
import * as z from 'zod';
import type { ChatMessage, ModelExchange, ToolDefinition } from '../contracts/engine.ts';
import { MeshError } from '../contracts/errors.ts';
import {
  EXCHANGES_FILE,
  type ExchangeLine,
  exchangeLineSchema,
  type RecordedReply,
  recordedReplySchema,
} from '../contracts/model-exchange.ts';
import { isJsonObject, type JsonObject, toFolderName } from '../contracts/packet.ts';
import { tryParseJson } from '../system/json-line.ts';
import { readArchivedTexts } from './read-archive.ts';

/** Maximum bytes of all exchanges of an archive; a batch of a thousand questions has some 300 MB. */
const MAX_EXCHANGES_BYTES = 512 * 1024 * 1024;

/** The same where their messages are restored, which repeat what earlier ones have. */
const MAX_RESTORED_BYTES = 256 * 1024 * 1024;

/** A model exchange of a run, with its task, role and packet type. */
export interface RecordedExchange {
  readonly taskId: string;
  readonly role: string;
  readonly packetType: string;
  readonly exchange: ModelExchange;
}

/**
 * Reads the exchanges of an archived run's agents with models, by agent, except those with a text that was not
 * kept.
 *
 * @throws MeshError `config` for an archive that cannot be read, or whose exchanges are too many
 */
export async function readExchanges(
  archive: string,
  agents: readonly string[],
): Promise<ReadonlyMap<string, readonly RecordedExchange[]>> {
  const logs = await readExchangeLogs(archive, MAX_RESTORED_BYTES);
  return new Map(
    agents.map((agent) => {
      const log = logs.get(path.posix.join(toFolderName(agent), EXCHANGES_FILE)) ?? '';
      return [agent, parseExchanges(log)];
    }),
  );
}

/** Reads the exchange logs of an archived run's agents, by their names in the archive. */
async function readExchangeLogs(archive: string, maxBytes: number): Promise<ReadonlyMap<string, string>> {
  const isLog = (name: string) => path.posix.basename(name) === EXCHANGES_FILE;
  const texts = await readArchivedTexts(archive, isLog, maxBytes);
  if (texts !== null) return texts;
  throw new MeshError(
    'config',
    `archive ${archive}: its exchanges with models have more than ${maxBytes} bytes`,
  );
}

/**
 * Reads every model reply of an archived run, agent by agent in the order of arrival.
 *
 * @throws MeshError `config` for an archive that cannot be read, or whose run asked no model
 */
export async function readRecordedReplies(archive: string): Promise<RecordedReply[]> {
  const logs = await readExchangeLogs(archive, MAX_EXCHANGES_BYTES);
  const replies = [...logs.values()].flatMap((text) => text.split('\n').flatMap(parseReplyLine));
  if (replies.length > 0) return replies;
  throw new MeshError(
    'config',
    `archive ${archive}: no model was asked in this run; expected run_artifacts.tar.gz of one whose engine asks a model server`,
  );
}

function parseReplyLine(line: string): RecordedReply[] {
  const reply = recordedReplySchema.safeParse(tryParseJson(line)).data;
  // Other lines are texts, which replies do not need, or of the logger itself.
  return reply === undefined ? [] : [reply];
}

/** Returns the exchanges of one agent from its `exchanges.log`. */
function parseExchanges(log: string): RecordedExchange[] {
  const texts = new Map<string, Map<string, string>>();
  const exchanges: RecordedExchange[] = [];
  for (const line of log.split('\n')) {
    const parsed = exchangeLineSchema.safeParse(tryParseJson(line));
    // The logger itself wrote a line that does not match.
    if (!parsed.success) continue;
    const { data } = parsed;
    const ofTask = texts.get(data.task_id) ?? new Map<string, string>();
    texts.set(data.task_id, ofTask);
    if ('text' in data) {
      ofTask.set(data.digest, data.text);
      continue;
    }
    const exchange = restoreExchange(data, ofTask);
    if (exchange !== undefined)
      exchanges.push({ taskId: data.task_id, role: data.role, packetType: data.packet_type, exchange });
  }
  return exchanges;
}

/** Restores an exchange; returns undefined if one of its texts is missing. */
export function restoreExchange(
  line: ExchangeLine,
  texts: ReadonlyMap<string, string>,
): ModelExchange | undefined {
  const messages = line.messages.map((message) => restoreMessage(message, texts));
  const tools = line.tools === undefined ? [] : restoreTools(texts.get(line.tools));
  const schema = line.schema === undefined ? undefined : tryParseJson(texts.get(line.schema) ?? '');
  if (tools === undefined || !isWhole(messages)) return undefined;
  const { content, reasoning, tool_calls, finish } = line.reply;
  return {
    key: line.key,
    model: line.model,
    messages,
    tools,
    schema: isJsonObject(schema) ? schema : undefined,
    reply: { content, reasoning, toolCalls: tool_calls, finish },
    promptTokens: line.prompt_tokens,
    completionTokens: line.completion_tokens,
    counts: line.counts,
    startedUs: line.started_us,
    endedUs: line.ended_us,
  };
}

function restoreMessage(
  line: ExchangeLine['messages'][number],
  texts: ReadonlyMap<string, string>,
): ChatMessage | undefined {
  const parts = line.parts.map(([kind, digest]) => ({ kind, text: texts.get(digest) }));
  const known = parts.flatMap(({ kind, text }) => (text === undefined ? [] : [{ kind, text }]));
  if (known.length < parts.length) return undefined;
  const content = known.map(({ text }) => text).join('');
  switch (line.role) {
    case 'assistant':
      return {
        role: 'assistant',
        content,
        toolCalls: line.tool_calls,
      };
    case 'tool':
      return { role: 'tool', content, toolCallId: line.tool_call_id ?? '', name: line.name ?? '' };
    default:
      return { role: line.role, content, parts: known };
  }
}

function isWhole(messages: readonly (ChatMessage | undefined)[]): messages is readonly ChatMessage[] {
  return !messages.includes(undefined);
}

const toolsSchema = z.array(
  z.looseObject({
    name: z.string(),
    description: z.string(),
    parameters: z.custom<JsonObject>(isJsonObject),
  }),
);

function restoreTools(text: string | undefined): readonly ToolDefinition[] | undefined {
  return toolsSchema.safeParse(tryParseJson(text ?? '')).data;
}
