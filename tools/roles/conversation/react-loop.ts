import type { ChatMessage, ChatRequest, ChatTurn } from '@gaia-mesh/core/contracts/engine.ts';
import { isModelFault, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { asRetry } from '@gaia-mesh/core/contracts/prompt-part.ts';
import { cleanAnswer, findNonAnswer, hasStatedAnswer } from '../../answers/clean-answer.ts';
import type { Answered } from '../answer/answered.ts';
import type { RoleWork } from '../role-work.ts';
import { ToolSession } from './tool-session.ts';

/** The form of a reply that ends a loop; by default an answer in the benchmark's form. */
export interface ReplyForm {
  /** Returns what is wrong with a reply that calls no tool, in words for the model; only for a form of its own. */
  readonly findFault?: ((text: string) => string | undefined) | undefined;
  /** Returns true if a reply without an answer hands the question on. */
  readonly isHandover?: ((text: string) => boolean) | undefined;
}

/** Maximum tool calls of one turn. Further calls are answered with an error. */
const MAX_CALLS_A_TURN = 16;
/** Maximum unusable replies in a row: a model that fails three times fails a fourth time. */
const MAX_FAULTY_REPLIES = 3;
/** Maximum turns in a row with the same text and calls: their results are the same, too. */
const MAX_SAME_TURNS = 5;
/** Maximum characters kept of one reply, from its end, where an answer stands. */
const MAX_SAID_CHARACTERS = 100_000;
/** Maximum characters of a conversation, some 250,000 tokens, which is more than models accept; the loop then ends with what it has. */
const MAX_CONVERSATION_CHARACTERS = 1_000_000;

const LAST_TURN =
  'This was the last turn with tools. Give your best answer now, from what you have found, in the required form.';
const NOTHING_SAID =
  'There is no answer in your reply, and it calls no tool. Give your answer in the required form.';
const ONLY_TALK =
  'Your reply calls no tool and does not state an answer. If there is more to do, call a tool now; otherwise give your answer in the required form.';
const ONLY_THOUGHTS =
  'Nothing but your thoughts arrived. Write your answer as the reply itself, in the required form.';
const REFUSED = 'Your reply declines to answer. Answer as well as you can, in the required form.';
const CUT_OFF =
  'Your reply was cut off at the length limit before it came to an answer. Answer again, more briefly, in the required form.';

/**
 * Runs the loop reason, act, observe: the model calls tools until it answers, or its turns are used up; then its best answer so far
 * counts (RA-20, RA-21; Yao et al., ReAct, arXiv 2210.03629). Errors are sent to the model, which may try another
 * way (RA-26). Every message stays in the conversation (REQ-026). The last stated answer counts: silence, a refusal or an overflowing
 * context after it do not take it back.
 */
export async function reactLoop(
  work: RoleWork,
  {
    messages: begin,
    iterations,
    ...form
  }: ReplyForm & {
    /** System and user message. */
    readonly messages: readonly ChatMessage[];
    /** Maximum turns of the model (RA-21). */
    readonly iterations: number;
  },
): Promise<Answered> {
  const session = await ToolSession.open(work);
  const messages: ChatMessage[] = [...begin];
  const said = new LoopAnswers(
    form,
    session.tools.map(({ name }) => name),
  );
  let faulty = 0;
  let turn = 0;
  let isLast = false;
  let last = '';
  let same = 0;
  while (!isLast && faulty < MAX_FAULTY_REPLIES && !work.isOutOfTime) {
    turn += 1;
    isLast =
      turn === iterations ||
      same >= MAX_SAME_TURNS ||
      countMessageCharacters(messages) > MAX_CONVERSATION_CHARACTERS;
    if (isLast && turn > 1) messages.push({ role: 'user', content: LAST_TURN });
    const request = {
      messages: [...messages],
      tools: session.tools.length === 0 ? undefined : session.tools,
    };
    const reply = await turnInTime(work, request, said.stated);
    if (reply === undefined) break;
    const text = keepTextEnd(reply.content.trim());
    if (reply.finish === 'refused' && said.stated === undefined) {
      work.reasoning(text);
      return { text, ended: 'gave_up' };
    }
    if (reply.toolCalls.length === 0) {
      const fault = said.findFault(text, reply.finish);
      if (fault === undefined) {
        work.reasoning(text);
        if (reply.confidence === undefined) return { text, ended: 'answer' };
        return { text, ended: 'answer', confidence: reply.confidence };
      }
      if (said.stated !== undefined) {
        work.note('the last reply states no answer: the one that was stated before counts');
        return { text: said.stated, ended: 'answer' };
      }
      faulty += 1;
      if (text !== '') work.reasoning(text);
      const { emptied } = reply;
      if (emptied !== undefined && faulty === MAX_FAULTY_REPLIES && said.last === undefined)
        throw new MeshError('reply', emptied);
      work.note(emptied ?? `the reply cannot be used: ${fault}`);
      const told = asRetry(emptied === undefined ? fault : ONLY_THOUGHTS);
      messages.push({ role: 'assistant', content: text }, { role: 'user', ...told });
      said.add(text);
      continue;
    }
    faulty = 0;
    said.add(text);
    if (text !== '') work.reasoning(text);
    const made = JSON.stringify([text, reply.toolCalls.map((call) => [call.name, call.arguments])]);
    same = made === last ? same + 1 : 1;
    last = made;
    if (same === MAX_SAME_TURNS)
      work.note(`the model made the same calls ${same} times: its next turn is the last`);
    const calls = session.take(reply.toolCalls, turn);
    messages.push({ role: 'assistant', content: text, toolCalls: calls });
    for (const [index, call] of calls.entries()) {
      const result = explainSkippedCall(isLast, index) ?? (await session.act(call, text !== ''));
      messages.push({ role: 'tool', toolCallId: call.id, name: call.name, content: result });
    }
  }
  const best = said.stated ?? said.last;
  if (best === undefined && said.nonAnswer !== undefined && !work.isOutOfTime)
    throw new MeshError('reply', said.nonAnswer);
  return endUnanswered(work, turn, best);
}

/** Ends a loop whose model gave no final answer. */
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

/** The failures of replies that are no answers. */
const NON_ANSWERS = {
  refusal: 'the model refused to answer',
  announcement: 'the model went in a circle: it announced steps and took none',
} as const;

const quote = (text: string): string => text.slice(0, 300).toWellFormed();

/** The replies of a model so far: the last answer that it stated, and the last text that could be one. */
class LoopAnswers {
  stated: string | undefined;
  last: string | undefined;
  /** The failure that a refusal or an announcement is, if the last text was one. */
  nonAnswer: string | undefined;
  readonly #form: ReplyForm;
  readonly #tools: readonly string[];
  readonly #isAnswer: boolean;
  #askedToState = false;

  /** @param tools names of the tools that the model may call */
  constructor(form: ReplyForm, tools: readonly string[]) {
    this.#form = form;
    this.#tools = tools;
    this.#isAnswer = form.findFault === undefined;
  }

  /** Adds a reply that does not end the loop. */
  add(text: string): void {
    if (cleanAnswer(text) === null) return;
    const kind = this.#isAnswer ? findNonAnswer(text, this.#tools) : undefined;
    this.nonAnswer = kind === undefined ? undefined : `${NON_ANSWERS[kind]}: “${quote(text)}”`;
    if (kind !== undefined) return;
    this.last = text;
    const isStated = this.#isAnswer ? hasStatedAnswer(text) : this.#form.findFault?.(text) === undefined;
    if (isStated) this.stated = text;
  }

  /** Returns what is wrong with a reply that calls no tool. Talk that states no answer is accepted as one only the second time. */
  findFault(text: string, finish: ChatTurn['finish']): string | undefined {
    if (!this.#isAnswer) return this.#form.findFault?.(text);
    // An answer is neither empty (RA-12) nor the template of one.
    if (cleanAnswer(text) === null) return NOTHING_SAID;
    const kind = findNonAnswer(text, this.#tools);
    if (kind !== undefined && this.#form.isHandover?.(text) !== true) {
      this.#askedToState = true;
      return kind === 'refusal' ? REFUSED : ONLY_TALK;
    }
    if (hasStatedAnswer(text) || this.#form.isHandover?.(text) === true) return undefined;
    if (this.stated === undefined && this.#askedToState) return undefined;
    this.#askedToState = true;
    return finish === 'length' ? CUT_OFF : ONLY_TALK;
  }
}

/**
 * Returns undefined if the time is up before the model has answered, or if the model cannot go on (its context is full, its server is
 * gone) and has already stated an answer.
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
    if (stated === undefined || !isModelFault(error)) throw error;
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
