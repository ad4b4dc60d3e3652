import { type Branches, DEPARTED } from '@gaia-mesh/core/agent/branches.ts';
import type { Engine, EngineWork } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { hashRequest } from '@gaia-mesh/core/contracts/model-exchange.ts';
import type { EngineOptions } from './engine-options.ts';
import { createAskingEngine } from './model-engine.ts';
import { describeRequest, replayReply } from './recorded.ts';

/**
 * Creates an engine that replays the recorded replies up to the point where its task branches off, and is `live` from there on. Before the
 * branch, an unrecorded request fails, because its reply would answer another question. Usage of replayed replies is not counted.
 */
export function createBranchEngine(
  live: Engine,
  branches: Pick<Branches, 'repliesOf'>,
  prompts: EngineOptions['prompts'],
): Engine {
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
