import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { findTimeUs, toCount, toList, toObject, toText, unpackJson } from '../loose-values.ts';
import type { ImportedMessage, Importer } from '../message.ts';

/** Something that a line of a session says. */
type Turn =
  | { readonly kind: 'user' | 'model'; readonly type: string; readonly payload: unknown }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly payload: unknown }
  | { readonly kind: 'result'; readonly id: string; readonly payload: unknown };

/** A line of a session, whichever agent wrote it. */
interface SessionLine {
  /** The session, if the line names it. */
  readonly session: string | undefined;
  /** The model, if the line names it. */
  readonly model: string | undefined;
  /** True for the work of an agent that this agent started. */
  readonly isSidechain: boolean;
  /** The model's reply that the line is a part of; its tokens count once. */
  readonly reply: string | undefined;
  readonly tokens: number | undefined;
  readonly turns: readonly Turn[];
}

/** Types of lines that Codex writes around its items. */
const CODEX_TYPES = new Set(['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted']);

/** Returns the name of the agent that wrote a line of a session; undefined for any other line. */
function detectAgentSession(value: unknown): string | undefined {
  const line = toObject(value) ?? {};
  const type = toText(line.type) ?? '';
  if (CODEX_TYPES.has(type) && toObject(line.payload) !== undefined) return 'a session of Codex';
  const isTurn = (type === 'user' || type === 'assistant') && toObject(line.message) !== undefined;
  return isTurn && toText(line.sessionId) !== undefined ? 'a session of Claude Code' : undefined;
}

/**
 * Imports sessions of coding agents, as Claude Code and Codex keep them in JSON lines: what the user says, the model's replies, and
 * its tool calls with their results. Lines about the program itself are counted as left out.
 */
const importAgentSession: Importer = (values, notes) => {
  const messages: ImportedMessage[] = [];
  const calls = new Map<string, ImportedMessage>();
  const counted = new Set<string>();
  const askers = new Map<string, ImportedMessage>();
  const lines = values.map(({ value, where }) => {
    const line = toObject(value) ?? {};
    return { line, where, read: readClaudeLine(line) ?? readCodexLine(line) };
  });
  let session = 'session';
  // Lines before the first one with a model belong to that model.
  let model = lines.find(({ read }) => read?.model !== undefined)?.read?.model ?? 'assistant';
  for (const { line, where, read } of lines) {
    session = read?.session ?? session;
    model = read?.model ?? model;
    if (read === undefined || read.turns.length === 0) {
      // The header of a session names it, and is no turn.
      if (read?.session === undefined && read?.model === undefined)
        notes.drop('a line without a turn', '# lines without a turn', toText(line.type) ?? where);
      continue;
    }
    const isFirst = read.reply === undefined || !counted.has(`${session} ${read.reply}`);
    if (read.reply !== undefined) counted.add(`${session} ${read.reply}`);
    let tokens = isFirst ? read.tokens : undefined;
    const user = read.isSidechain ? `${model}:main` : 'user';
    const said = { task: session, atUs: findTimeUs(line) };
    for (const turn of read.turns) {
      const key = `${session} ${turn.kind === 'call' || turn.kind === 'result' ? turn.id : user}`;
      switch (turn.kind) {
        case 'user': {
          const message = { ...said, from: user, to: model, type: turn.type, payload: turn.payload };
          askers.set(key, message);
          messages.push(message);
          break;
        }
        case 'model': {
          const { type, payload } = turn;
          const isReply = type === 'assistant';
          const answers = isReply ? askers.get(key) : undefined;
          messages.push({ ...said, from: model, to: user, type, payload, answers, tokens });
          if (isReply) askers.delete(key);
          tokens = undefined;
          break;
        }
        case 'call': {
          const { name, payload } = turn;
          const call = { ...said, from: model, to: `tool:${name}`, type: 'tool.call', payload, tokens };
          calls.set(key, call);
          messages.push(call);
          tokens = undefined;
          break;
        }
        case 'result': {
          const call = calls.get(key);
          if (call === undefined)
            notes.drop(
              'a result of a tool: its call is not in the session',
              '# results of tools: their calls are not in the session',
              where,
            );
          else
            messages.push({
              ...said,
              from: call.to,
              to: call.from,
              type: 'tool.result',
              payload: turn.payload,
              answers: call,
            });
        }
      }
    }
  }
  return messages;
};

/** Reads a line of Claude Code: a message of Anthropic's API with the session around it. */
function readClaudeLine(line: JsonObject): SessionLine | undefined {
  const message = toObject(line.message);
  const { type } = line;
  if (message === undefined || (type !== 'user' && type !== 'assistant')) return undefined;
  const blocks = typeof message.content === 'string' ? [message.content] : toList(message.content);
  const words: unknown[] = [];
  const turns: Turn[] = [];
  for (const block of blocks) {
    const { type: kind, id, tool_use_id, name, input, content, is_error } = toObject(block) ?? {};
    const [known, used, named] = [toText(id), toText(tool_use_id), toText(name)];
    if (kind === 'tool_use' && known !== undefined && named !== undefined)
      turns.push({ kind: 'call', id: known, name: named, payload: input });
    else if (kind === 'tool_result' && used !== undefined) {
      const payload =
        is_error === true ? { content: content ?? null, is_error } : { content: content ?? null };
      turns.push({ kind: 'result', id: used, payload });
    } else words.push(block);
  }
  const said: Turn[] =
    words.length === 0
      ? []
      : [
          {
            kind: type === 'user' ? 'user' : 'model',
            type,
            payload: { content: words.length === 1 && typeof words[0] === 'string' ? words[0] : words },
          },
        ];
  return {
    session: toText(line.sessionId),
    model: toText(message.model),
    isSidechain: line.isSidechain === true,
    reply: toText(message.id),
    tokens: sumUsage(toObject(message.usage)),
    turns: [...said, ...turns],
  };
}

/** Returns all tokens of a reply, with those that were read from a cache. */
function sumUsage(usage: JsonObject | undefined): number | undefined {
  if (usage === undefined) return undefined;
  const names = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'];
  return names.reduce((sum, name) => sum + (toCount(usage[name]) ?? 0), 0);
}

/** Reads a line of Codex: an item of OpenAI's responses API, in older versions without anything around it. */
function readCodexLine(line: JsonObject): SessionLine | undefined {
  const inner = toObject(line.payload);
  const isWrapped = inner !== undefined && CODEX_TYPES.has(toText(line.type) ?? '');
  const item = isWrapped ? inner : line;
  const isHeader = isWrapped ? line.type === 'session_meta' : item.instructions !== undefined;
  const common = {
    session: isHeader ? toText(item.id) : undefined,
    model: line.type === 'turn_context' ? toText(item.model) : undefined,
    isSidechain: false,
    reply: undefined,
    tokens: undefined,
  };
  const turn = isWrapped && line.type !== 'response_item' ? undefined : readCodexItem(item);
  return { ...common, turns: turn === undefined ? [] : [turn] };
}

function readCodexItem(item: JsonObject): Turn | undefined {
  const { type, role, content, call_id, id, name, action, output, summary } = item;
  const call = toText(call_id) ?? toText(id) ?? '';
  const input = item.arguments ?? item.input;
  switch (type) {
    case 'message':
      return role === 'assistant'
        ? { kind: 'model', type: 'assistant', payload: { content } }
        : { kind: 'user', type: toText(role) ?? 'user', payload: { content } };
    case 'reasoning':
      return { kind: 'model', type: 'reasoning', payload: { summary, content } };
    case 'function_call':
    case 'custom_tool_call':
      return { kind: 'call', id: call, name: toText(name) ?? 'unknown', payload: unpackJson(input) };
    case 'local_shell_call':
    case 'web_search_call':
      return { kind: 'call', id: call, name: type.replace('_call', ''), payload: action };
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      return { kind: 'result', id: call, payload: { output: unpackJson(output) } };
    default:
      return undefined;
  }
}

/** The format of a coding agent's sessions. */
export const agentSession = { read: importAgentSession, signOf: detectAgentSession };
