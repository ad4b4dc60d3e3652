import { readFileSync } from 'node:fs';
import { Branches, DEPARTED } from '@gaia-mesh/core/agent/branches.ts';
import type { AgentOptions } from '@gaia-mesh/core/agent/session-options.ts';
import type { Engine, EngineWork } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import {
  hashRequest,
  type RecordedReply,
  recordedReplySchema,
} from '@gaia-mesh/core/contracts/model-exchange.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { branchFileSchema } from '@gaia-mesh/core/recording/branch-file.ts';
import { readMonotonicUs } from '@gaia-mesh/core/system/clock.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';
import type { EngineOptions } from './engine-options.ts';
import { type AttributedReply, createAskingEngine } from './model-engine.ts';
import { readReply } from './replies/read-reply.ts';
import type { Question } from './requests/ask-model.ts';

/** Maximum bytes of a file of replies, which are in memory together. */
const MAX_REPLIES_BYTES = 256 * 1024 * 1024;

const optionsSchema = z.looseObject({
  /** The file of replies, one JSON line each, that the launcher wrote (`--replies`). */
  replies: z.string().min(1),
});

/**
 * Creates an engine that replays the replies of an earlier run to the same requests. Requests are the same if their messages, tools
 * and schema are; the n-th time that a request comes, it gets the n-th reply, and after the last one the first again. An unrecorded
 * request fails and names itself; no reply is made up.
 *
 * The file is read at the first request, which fails with `usage` or `config` if there is none.
 */
export function createRecordedEngine({ options = {}, prompts }: EngineOptions): Engine {
  let kept: ReadonlyMap<string, readonly RecordedReply[]> | undefined;
  const taken = new Map<string, number>();

  return createAskingEngine('recorded', prompts, async (question: Question, work: EngineWork) => {
    kept ??= loadReplies(options);
    const replies = kept;
    const startedUs = readMonotonicUs();
    const key = hashRequest(question);
    const known = replies.get(key) ?? [];
    const times = taken.get(key) ?? 0;
    taken.set(key, times + 1);
    const recorded = known[times % known.length];
    if (recorded === undefined) throw createUnrecordedError(question, work, replies.size);
    const { model, prompt_tokens, completion_tokens, counts } = recorded;
    const { tool_calls: toolCalls, ...reply } = recorded.reply;
    work.onExchange?.({
      key,
      model,
      messages: question.messages,
      tools: question.tools,
      schema: question.schema,
      reply: { ...reply, toolCalls },
      promptTokens: prompt_tokens,
      completionTokens: completion_tokens,
      counts,
      startedUs,
      endedUs: readMonotonicUs(),
    });
    work.countTokens((prompt_tokens ?? 0) + (completion_tokens ?? 0));
    // The cost was incurred when the reply was recorded.
    work.countUsage?.({
      model,
      promptTokens: prompt_tokens,
      completionTokens: completion_tokens,
      costUsd: 0,
    });
    return replayReply(recorded, question);
  });
}

/** @throws MeshError `engine` for a recorded refusal */
function replayReply(recorded: RecordedReply, { tools, messages }: Question): AttributedReply {
  const { model } = recorded;
  const { content, reasoning, tool_calls: toolCalls, finish } = recorded.reply;
  if (finish === 'filtered')
    throw new MeshError('engine', `${model} refused to answer (content filter), when it was recorded`);
  return {
    reply: readReply({ content, reasoning, toolCalls, finish }, tools, messages.length),
    by: `${model} at a recorded run`,
    cutReply: 'it was recorded so',
  };
}

function loadReplies(
  options: NonNullable<EngineOptions['options']>,
): ReadonlyMap<string, readonly RecordedReply[]> {
  const parsed = optionsSchema.safeParse(options);
  if (parsed.success) return readReplyFile(parsed.data.replies);
  throw new MeshError(
    'usage',
    `--engine recorded: give the run to take replies from with --replies (${formatIssues(parsed.error)})`,
  );
}

function readReplyFile(file: string): ReadonlyMap<string, readonly RecordedReply[]> {
  const text = readUserText(file, { what: 'recorded replies', maxBytes: MAX_REPLIES_BYTES });
  const replies = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => parseJsonLine(line, recordedReplySchema, `${file}:${index + 1}`));
  return Map.groupBy(replies, ({ key }) => key);
}

/** Characters shown of an unrecorded request, enough to recognise it. */
const SHOWN_CHARACTERS = 160;

function createUnrecordedError(question: Question, work: EngineWork, known: number): MeshError {
  return new MeshError(
    'engine',
    `no reply was recorded for ${describeRequest(question, work)}. ` +
      `The run holds replies to ${known} other requests: question, team, prompts and tools must be those of the run`,
  );
}

function describeRequest({ messages }: Question, { role }: EngineWork): string {
  const last = messages.at(-1);
  const said = (last?.content ?? '').replace(/\s+/g, ' ').trim().slice(-SHOWN_CHARACTERS).toWellFormed();
  return `this request${role === undefined ? '' : ` of ${role}`}: message ${messages.length}, of the ${last?.role ?? 'user'}, ends with “${said}”`;
}

/**
 * Creates an engine that replays the recorded replies up to the point where its task branches off, and is `live` from there on. Before the
 * branch, an unrecorded request fails, because its reply would answer another question. Usage of replayed replies is not counted.
 */
function createBranchEngine(live: Engine, branches: Branches, prompts: EngineOptions['prompts']): Engine {
  const recorded = createAskingEngine(live.name, prompts, async (question, work) => {
    const left = work.taskId === undefined ? undefined : branches.repliesOf(work.taskId);
    const key = hashRequest(question);
    const [reply] = left?.splice(findReplyIndex(left, key), 1) ?? [];
    if (reply !== undefined) return replayReply(reply, question);
    throw new MeshError(
      'engine',
      `${DEPARTED}: before its branch there is no recorded reply to ${describeRequest(question, work)}`,
    );
  });
  const isRecorded = ({ taskId }: EngineWork) =>
    taskId !== undefined && branches.repliesOf(taskId) !== undefined;
  const { chat } = live;
  const { chat: chatAgain } = recorded;
  const engine: Engine = {
    ...live,
    perform: (step, work) => (isRecorded(work) ? recorded : live).perform(step, work),
  };
  if (chat === undefined || chatAgain === undefined) return engine;
  return { ...engine, chat: (request, work) => (isRecorded(work) ? chatAgain : chat)(request, work) };
}

/** Returns the index of a request's reply; the index after the last if there is none, where nothing is taken. */
function findReplyIndex(replies: readonly { readonly key: string }[], key: string): number {
  const index = replies.findIndex((reply) => reply.key === key);
  return index === -1 ? replies.length : index;
}

/**
 * Makes agent `id` repeat its tasks up to where the branches in `file` begin.
 *
 * @throws MeshError `config`
 */
export function createBranching(
  file: string,
  id: string,
  live: Engine,
  prompts: EngineOptions['prompts'],
): Pick<AgentOptions, 'engine' | 'rewrite'> {
  const branches = new Branches(parseJsonLine(readFileSync(file, 'utf8'), branchFileSchema, file), id);
  return {
    engine: createBranchEngine(live, branches, prompts),
    rewrite: (emission, cause) => branches.rewrite(emission, cause),
  };
}
