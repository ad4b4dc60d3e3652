import type {
  ChatMessage,
  ChatRequest,
  ChatTurn,
  ToolCall,
  ToolDefinition,
} from '@gaia-mesh/core/contracts/engine.ts';
import { isModelFault, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { asRetry } from '@gaia-mesh/core/contracts/prompt-part.ts';
import * as z from 'zod';
import { ANSWER_FORMAT } from '../../answers/answer-format.ts';
import { cleanAnswer, findNonAnswer, hasStatedAnswer } from '../../answers/clean-answer.ts';
import { renderPrompt } from '../../engines/prompt.ts';
import { OfferedTools } from '../../foreign/offered.ts';
import { buildToolDefinitions, resolveCalledTool, splitReason } from '../../tool-definitions.ts';
import type { Answered } from '../answer/answered.ts';
import type { RoleWork } from '../role-work.ts';
import { cutText, isDeeper, MAX_ENTRY_CHARACTERS } from '../trace.ts';

/** Maximum characters of one call's arguments: enough for a long program. */
const MAX_ARGUMENT_CHARACTERS = 200_000;
/** Maximum nesting of arguments; a packet's payload may be somewhat deeper. */
const MAX_ARGUMENT_DEPTH = 32;
/** Maximum characters quoted from a model's invalid arguments, enough to recognise them. */
const MAX_SHOWN_CHARACTERS = 100;

/** The tools of one conversation: it offers them to the model and carries out its calls (RA-25). */
class ToolSession {
  readonly tools: readonly ToolDefinition[];
  readonly #work: RoleWork;
  readonly #ids = new Set<string>();
  readonly #offered: OfferedTools;

  private constructor(work: RoleWork, own: readonly ToolDefinition[], offered: OfferedTools) {
    this.#work = work;
    this.#offered = offered;
    this.tools = [...own, ...offered.definitions];
  }

  static async open(work: RoleWork): Promise<ToolSession> {
    const own = await buildToolDefinitions(work.context.partners, work.file);
    return new ToolSession(work, own, await OfferedTools.ask(work));
  }

  /**
   * Returns the calls of one reply as they stay in the conversation, which is sent back to the server: servers refuse names and ids
   * that they would not have issued, and duplicate ids.
   */
  take(calls: readonly ToolCall[], turn: number): ToolCall[] {
    return calls.map((call, index) => {
      const id = this.#ids.has(call.id) ? `call_${turn}_${index}_again` : call.id;
      this.#ids.add(id);
      return { id, name: toToolName(call.name), arguments: boundArguments(call.arguments) };
    });
  }

  /**
   * Carries out one call, from its reason to its result as the model reads it. Errors are reported to the model (RA-26).
   *
   * @param isExplained true if the model gave a text with its calls, which is already in the trace
   */
  async act({ name, arguments: given }: ToolCall, isExplained: boolean): Promise<string> {
    const target = this.#offered.find(name);
    const tool =
      target === undefined
        ? resolveCalledTool(name, typeof given === 'string' ? {} : given, this.#work.context.partners)
        : name;
    if (tool === undefined) {
      this.#work.note(`the model called the tool ${name}, which does not exist`);
      const known = this.tools.map((offered) => offered.name).join(', ');
      return `Error: there is no tool ${name}. There are: ${known === '' ? 'none' : known}`;
    }
    if (typeof given === 'string') {
      this.#work.note(`the model gave ${name} invalid arguments`);
      return `Error: the arguments are not a JSON object, or far too large: ${cutText(given, MAX_SHOWN_CHARACTERS)}`;
    }
    // A foreign tool may have an argument named `reason`.
    const { reason, args } = target === undefined ? splitReason(given) : { reason: '', args: given };
    // Each action is preceded by exactly one reason (REQ-024).
    if (reason !== '') this.#work.reasoning(reason);
    else if (!isExplained) this.#work.reasoning(`calls ${tool}`);
    const reply =
      target === undefined
        ? await this.#work.use(tool, args)
        : await this.#work.usePartner(target.partner, name, target.toArguments(args));
    return 'error' in reply ? `Error: ${reply.error.message}` : cutText(reply.text, MAX_ENTRY_CHARACTERS);
  }
}

/** Converts a tool's name to the form that servers accept, still recognisable. */
function toToolName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown';
}

function boundArguments(given: JsonObject | string): JsonObject | string {
  if (typeof given === 'string') return cutText(given, MAX_SHOWN_CHARACTERS);
  // Depth is checked first: endlessly nested values cannot be converted to text.
  if (isDeeper(given, MAX_ARGUMENT_DEPTH)) return `nested deeper than ${MAX_ARGUMENT_DEPTH}`;
  const text = JSON.stringify(given);
  return text.length > MAX_ARGUMENT_CHARACTERS ? cutText(text, MAX_SHOWN_CHARACTERS) : given;
}

/** The form of a reply that ends a loop; by default an answer in the benchmark's form. */
interface ReplyForm {
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
async function reactLoop(
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

/** Turns of a loop if the team file does not set them (RA-21). */
const DEFAULT_ITERATIONS = 50;

const optionsSchema = z.looseObject({
  iterations: z.int().positive().max(10_000).default(DEFAULT_ITERATIONS),
});

/** Returns the messages of prompt `name`. */
export function buildOpening(
  work: RoleWork,
  name: string,
  variables: Readonly<Record<string, string>>,
): ChatMessage[] {
  return renderPrompt(name, work.context.prompt(name), variables);
}

/**
 * Runs a loop with the tools that the agent may call, beginning with prompt `name`. A role that answers gets the benchmark's form
 * as {{answer_format}} (SV-16); one with a form of its own reports what is wrong with a reply.
 */
export function converse(
  work: RoleWork,
  name: string,
  variables: Readonly<Record<string, string>>,
  form: ReplyForm = {},
): Promise<Answered> {
  const { iterations } = work.options(optionsSchema);
  const ownForm = form.findFault === undefined ? { answer_format: ANSWER_FORMAT } : {};
  return reactLoop(work, {
    messages: buildOpening(work, name, { ...variables, ...ownForm }),
    iterations,
    ...form,
  });
}

/** Maximum characters of a document in a prompt: some 25,000 tokens, which most models accept besides the rest. */
const MAX_PROMPT_CHARACTERS = 100_000;

/** Cuts a text for a prompt, with a mark, at the length that models accept. */
export function cutPromptText(text: string): string {
  return cutText(text, MAX_PROMPT_CHARACTERS);
}
