import type { ChatMessage, ChatRequest, ChatTurn } from '../../../core/contracts/engine.ts';
import { cleanAnswer } from '../answer/clean-answer.ts';
import type { RoleWork } from '../role-work.ts';
import { ToolSession } from './tool-session.ts';

export interface LoopOptions {
  /** System and user message. */
  readonly messages: readonly ChatMessage[];
  /** Turns of the model at most (RA-21). */
  readonly iterations: number;
  /** What is wrong with a reply that calls no tool, in words for the model; undefined: it ends the loop. */
  readonly faultOf?: (text: string) => string | undefined;
}

export interface LoopEnd {
  /** Never empty. */
  readonly text: string;
  readonly ended: 'answer' | 'limit' | 'gave_up' | 'cut_off';
  /** Turns that were taken. */
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

/**
 * Reason, act, observe: the model calls tools until it answers, or its turns are used up; then the best that it has said so far is
 * its answer (RA-20, RA-21; Yao et al., ReAct, arXiv 2210.03629). What fails is told to the model, which may try another
 * way (RA-26). Every message stays in the conversation (REQ-026).
 */
export async function reactLoop(
  work: RoleWork,
  { messages: begin, iterations, faultOf = answerFault }: LoopOptions,
): Promise<LoopEnd> {
  const session = await ToolSession.of(work);
  const messages: ChatMessage[] = [...begin];
  let best = '';
  let faulty = 0;
  let turn = 0;
  let isLast = false;
  while (!isLast && faulty < MAX_FAULTY_REPLIES && !work.isOutOfTime) {
    turn += 1;
    isLast = turn === iterations || charactersOf(messages) > MAX_CONVERSATION_CHARACTERS;
    if (isLast && turn > 1) messages.push({ role: 'user', content: LAST_TURN });
    const reply = await turnInTime(work, {
      messages: [...messages],
      ...(session.tools.length === 0 ? {} : { tools: session.tools }),
    });
    if (reply === undefined) break;
    const { content, toolCalls } = reply;
    const said = endOf(content.trim());
    if (toolCalls.length === 0) {
      const fault = faultOf(said);
      if (fault === undefined) {
        work.reasoning(said);
        return { text: said, ended: 'answer', iterations: turn };
      }
      faulty += 1;
      work.note(`the reply cannot be used: ${fault}`);
      messages.push({ role: 'assistant', content: said }, { role: 'user', content: fault });
      best = better(best, said);
      continue;
    }
    faulty = 0;
    best = better(best, said);
    const calls = session.take(toolCalls, turn);
    messages.push({ role: 'assistant', content: said, toolCalls: calls });
    for (const [index, call] of calls.entries()) {
      const result = refusal(isLast, index) ?? (await session.act(call, said));
      messages.push({ role: 'tool', toolCallId: call.id, name: call.name, content: result });
    }
  }
  if (best === '' && work.isOutOfTime) {
    work.note(`its time was up in turn ${turn}, without an answer`);
    return { text: 'No answer was found in time.', ended: 'cut_off', iterations: turn };
  }
  if (best === '') {
    work.note(`gave up after ${turn} turns without an answer`);
    return { text: `No answer was found within ${turn} turns.`, ended: 'gave_up', iterations: turn };
  }
  work.note(`stopped after ${turn} turns, with the best answer so far`);
  return { text: best, ended: 'limit', iterations: turn };
}

/** Undefined where its time is up before the model has answered. */
async function turnInTime(work: RoleWork, request: ChatRequest): Promise<ChatTurn | undefined> {
  try {
    return await work.chat(request);
  } catch (error) {
    if (!work.isOutOfTime || work.context.signal.aborted) throw error;
    return undefined;
  }
}

function refusal(isLast: boolean, index: number): string | undefined {
  if (isLast) return 'not run: no turns are left';
  return index >= MAX_CALLS_A_TURN ? `not run: at most ${MAX_CALLS_A_TURN} calls a turn` : undefined;
}

/** An answer is never empty (RA-12), nor the template of one. */
function answerFault(text: string): string | undefined {
  return cleanAnswer(text) === null ? NOTHING_SAID : undefined;
}

/** What was said in the form of an answer is better than anything said before it; anything is better than nothing. */
function better(best: string, said: string): string {
  if (said === '' || cleanAnswer(said) === null) return best;
  const isAnswer = (text: string) => /final answer\s*:/i.test(text);
  return isAnswer(said) || !isAnswer(best) ? said : best;
}

function endOf(text: string): string {
  return text.length <= MAX_SAID_CHARACTERS ? text : `…${text.slice(-MAX_SAID_CHARACTERS).toWellFormed()}`;
}

function charactersOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    return sum + message.content.length + (calls.length === 0 ? 0 : JSON.stringify(calls).length);
  }, 0);
}
