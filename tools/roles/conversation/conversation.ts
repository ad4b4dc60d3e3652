import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import * as z from 'zod';
import { ANSWER_FORMAT } from '../../answers/answer-format.ts';
import { renderPrompt } from '../../engines/prompt.ts';
import type { Answered } from '../answer/answered.ts';
import type { RoleWork } from '../role-work.ts';
import { cutText } from '../trace.ts';
import { type ReplyForm, reactLoop } from './react-loop.ts';

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
