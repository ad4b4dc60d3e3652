import type { ChatMessage, ChatRequest, ChatTurn } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { asRetry } from '@gaia-mesh/core/contracts/prompt-part.ts';
import { cleanAnswer, hasStatedAnswer } from '../../answers/clean-answer.ts';
import type { Answered } from '../answer/answered.ts';
import type { RoleWork } from '../role-work.ts';
import { ToolSession } from './tool-session.ts';

/** What a reply must be that ends a loop; without any of these, an answer in the benchmark's form. */
export interface ReplyForm {
  /** For a form of its own: what is wrong with a reply that calls no tool, in words for the model. */
  readonly faultOf?: ((text: string) => string | undefined) | undefined;
  /** Whether a reply without an answer hands the question on. */
  readonly handsOn?: ((text: string) => boolean) | undefined;
}

interface LoopOptions extends ReplyForm {
  /** System and user message. */
  readonly messages: readonly ChatMessage[];
  /** Turns of the model at most (RA-21). */
  readonly iterations: number;
}

/** Tool calls of one turn. A model that asks for more is told so. */
const MAX_CALLS_A_TURN = 16;
/** Replies in a row that cannot be used: a model that fails three times fails a fourth time. */
const MAX_FAULTY_REPLIES = 3;
/** Of one reply of the model, its end: an answer stands there. */
const MAX_SAID_CHARACTERS = 100_000;
/** Of a conversation. Some 250,000 tokens, above what models take in; what has grown so far is brought to an end. */
const MAX_CONVERSATION_CHARACTERS = 1_000_000;

const LAST_TURN =
  'This was the last turn with tools. Give your best answer now, from what you have found, in the required form.';
const NOTHING_SAID =
  'There is no answer in your reply, and it calls no tool. Give your answer in the required form.';
const ONLY_TALK =
  'Your reply calls no tool and does not state an answer. If there is more to do, call a tool now; otherwise give your answer in the required form.';
const CUT_OFF =
  'Your reply was cut off at the length limit before it came to an answer. Answer again, more briefly, in the required form.';

/**
 * Reason, act, observe: the model calls tools until it answers, or its turns are used up; then the best that it has said so far is
 * its answer (RA-20, RA-21; Yao et al., ReAct, arXiv 2210.03629). What fails is told to the model, which may try another
 * way (RA-26). Every message stays in the conversation (REQ-026). The last answer that was stated counts: what comes after
 * it (silence, a refusal, a context that overflows) does not take it back.
 */
export async function reactLoop(
  work: RoleWork,
  { messages: begin, iterations, ...form }: LoopOptions,
): Promise<Answered> {
  const session = await ToolSession.of(work);
  const messages: ChatMessage[] = [...begin];
  const said = new LoopAnswers(form);
  let faulty = 0;
  let turn = 0;
  let isLast = false;
  while (!isLast && faulty < MAX_FAULTY_REPLIES && !work.isOutOfTime) {
    turn += 1;
    isLast = turn === iterations || countMessageCharacters(messages) > MAX_CONVERSATION_CHARACTERS;
    if (isLast && turn > 1) messages.push({ role: 'user', content: LAST_TURN });
    const request = {
      messages: [...messages],
      ...(session.tools.length === 0 ? {} : { tools: session.tools }),
    };
    const reply = await turnInTime(work, request, said.stated);
    if (reply === undefined) break;
    const text = keepTextEnd(reply.content.trim());
    if (reply.finish === 'refused' && said.stated === undefined) {
      work.reasoning(text);
      return { text, ended: 'gave_up' };
    }
    if (reply.toolCalls.length === 0) {
      const fault = said.faultOf(text, reply.finish);
      if (fault === undefined) {
        work.reasoning(text);
        const { confidence } = reply;
        return { text, ended: 'answer', ...(confidence === undefined ? {} : { confidence }) };
      }
      if (said.stated !== undefined) {
        work.note('the last reply states no answer: the one that was stated before counts');
        return { text: said.stated, ended: 'answer' };
      }
      faulty += 1;
      if (text !== '') work.reasoning(text);
      work.note(`the reply cannot be used: ${fault}`);
      messages.push({ role: 'assistant', content: text }, { role: 'user', ...asRetry(fault) });
      said.add(text);
      continue;
    }
    faulty = 0;
    said.add(text);
    if (text !== '') work.reasoning(text);
    const calls = session.take(reply.toolCalls, turn);
    messages.push({ role: 'assistant', content: text, toolCalls: calls });
    for (const [index, call] of calls.entries()) {
      const result = explainSkippedCall(isLast, index) ?? (await session.act(call, text !== ''));
      messages.push({ role: 'tool', toolCallId: call.id, name: call.name, content: result });
    }
  }
  return endUnanswered(work, turn, said.stated ?? said.last);
}

/** What a loop comes to whose model gave no answer that ended it. */
function endUnanswered(work: RoleWork, turn: number, best: string | undefined): Answered {
  if (best !== undefined) {
    work.note(`stopped after ${turn} turns, with the best answer so far`);
    return { text: best, ended: 'limit' };
  }
  if (work.isOutOfTime) {
    work.note(`its time was up in turn ${turn}, without an answer`);
    return { text: 'No answer was found in time.', ended: 'cut_off' };
  }
  work.note(`gave up after ${turn} turns without an answer`);
  return { text: `No answer was found within ${turn} turns.`, ended: 'gave_up' };
}

/** What a model has said so far: the last answer that it stated, and the last text that could be one. */
class LoopAnswers {
  stated: string | undefined;
  last: string | undefined;
  readonly #form: ReplyForm;
  readonly #isAnswer: boolean;
  #askedToState = false;

  constructor(form: ReplyForm) {
    this.#form = form;
    this.#isAnswer = form.faultOf === undefined;
  }

  /** A reply that does not end the loop. */
  add(text: string): void {
    if (cleanAnswer(text) === null) return;
    this.last = text;
    const isStated = this.#isAnswer ? hasStatedAnswer(text) : this.#form.faultOf?.(text) === undefined;
    if (isStated) this.stated = text;
  }

  /** What is wrong with a reply that calls no tool. Talk that states no answer is taken for one only the second time. */
  faultOf(text: string, finish: ChatTurn['finish']): string | undefined {
    if (!this.#isAnswer) return this.#form.faultOf?.(text);
    // An answer is never empty (RA-12), nor the template of one.
    if (cleanAnswer(text) === null) return NOTHING_SAID;
    if (hasStatedAnswer(text) || this.#form.handsOn?.(text) === true) return undefined;
    if (this.stated === undefined && this.#askedToState) return undefined;
    this.#askedToState = true;
    return finish === 'length' ? CUT_OFF : ONLY_TALK;
  }
}

/**
 * Undefined where its time is up before the model has answered, or where the model cannot go on (its context is full, its server is
 * gone) and has stated an answer already.
 */
async function turnInTime(
  work: RoleWork,
  request: ChatRequest,
  stated: string | undefined,
): Promise<ChatTurn | undefined> {
  try {
    return await work.chat(request);
  } catch (error) {
    if (work.context.signal.aborted) throw error;
    if (work.isOutOfTime) return undefined;
    if (stated === undefined || !(error instanceof MeshError) || error.code !== 'engine') throw error;
    work.note(`the model cannot go on: ${error.message}`);
    return undefined;
  }
}

function explainSkippedCall(isLast: boolean, index: number): string | undefined {
  if (isLast) return 'not run: no turns are left';
  return index >= MAX_CALLS_A_TURN ? `not run: at most ${MAX_CALLS_A_TURN} calls a turn` : undefined;
}

function keepTextEnd(text: string): string {
  return text.length <= MAX_SAID_CHARACTERS ? text : `…${text.slice(-MAX_SAID_CHARACTERS).toWellFormed()}`;
}

function countMessageCharacters(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    return sum + message.content.length + (calls.length === 0 ? 0 : JSON.stringify(calls).length);
  }, 0);
}
