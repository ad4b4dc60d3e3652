import type { JsonObject } from '../../core/packet.ts';
import type { ProblemKind, Solution, SolutionStep, ToolReply, UseTool } from './solution.ts';

/** Of a tool's reply, what the trace keeps. */
const SHORT = 300;

/** A problem takes a handful of calls; a table with many groups one for each. */
const MAX_CALLS = 64;

/** One problem while it is being solved: the tools that were asked, and the reasoning so far. */
export class Workings {
  readonly steps: SolutionStep[] = [];
  readonly #use: UseTool;
  readonly #sentences: string[] = [];

  constructor(use: UseTool) {
    this.#use = use;
  }

  say(sentence: string): void {
    this.#sentences.push(sentence);
  }

  /** The tool's reply; undefined where it could not, which is then said. */
  async ask(
    tool: string,
    args: JsonObject,
  ): Promise<{ readonly text: string; readonly data?: JsonObject } | undefined> {
    if (this.steps.length >= MAX_CALLS) {
      this.say(`${tool} was not asked: ${MAX_CALLS} calls are the limit.`);
      return undefined;
    }
    const reply: ToolReply = await this.#use(tool, args);
    const failed = 'error' in reply;
    this.steps.push({ tool, arguments: args, result: shortened(failed ? reply.error.message : reply.text) });
    if (!failed) return reply;
    this.say(`${tool} could not: ${reply.error.message}`);
    return undefined;
  }

  answer(kind: ProblemKind, answer: string, confidence?: number): Solution {
    this.say(`The answer is ${answer}.`);
    return { ...this.#soFar(kind), answer, ...(confidence === undefined ? {} : { confidence }) };
  }

  /** @param missing what would be needed */
  giveUp(kind: ProblemKind, missing: string): Solution {
    this.say(missing);
    return { ...this.#soFar(kind), answer: null };
  }

  #soFar(kind: ProblemKind): Omit<Solution, 'answer'> {
    return { kind, reasoning: this.#sentences.join(' '), steps: [...this.steps] };
  }
}

function shortened(text: string): string {
  return text.length <= SHORT ? text : `${text.slice(0, SHORT).toWellFormed()}…`;
}
