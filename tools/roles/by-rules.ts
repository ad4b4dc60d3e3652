import { countTokens } from '../reader/tokens.ts';
import { solve } from '../solver/solve.ts';
import { FINAL_ANSWER_PREFIX } from './answer-format.ts';
import type { Answered } from './answering.ts';
import type { RoleWork } from './role-work.ts';

/** What the rules are to answer. */
export interface RuleProblem {
  readonly question: string;
  readonly file?: string | undefined;
  /** A text that the answer may stand in; empty without one. */
  readonly document?: string;
}

/**
 * Answers without a model: rules choose the tools, the tools do the work. The text is as a model would have put it: the
 * reasoning, and the answer in the benchmark's form; without an answer, why there is none.
 */
export async function answerByRules(work: RoleWork, problem: RuleProblem): Promise<Answered> {
  const { question, file, document = '' } = problem;
  const { answer, reasoning } = await solve(
    {
      question,
      ...(file === undefined ? {} : { file }),
      ...(document === '' ? {} : { context: document }),
    },
    (tool, args) => {
      // Each action has its reason before it in the trace (REQ-024).
      work.reasoning(`the rules for ${file ?? 'such a question'} ask ${tool}`);
      return work.use(tool, args);
    },
  );
  work.reasoning(reasoning);
  const text = answer === null ? reasoning : `${reasoning}\n\n${FINAL_ANSWER_PREFIX}${answer}`;
  work.context.countTokens(countTokens(question) + countTokens(text));
  return { text, ended: answer === null ? 'gave_up' : 'answer' };
}
