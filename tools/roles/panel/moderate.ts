import * as z from 'zod';
import type { JsonObject } from '../../../core/contracts/packet.ts';
import type { Tool } from '../../../core/contracts/tool.ts';
import { answeredSchema, conclude, NO_ANSWER } from '../answer/answered.ts';
import { type Plan, planSchema } from '../plan.ts';
import { type Conclusion, entryTool, type Problem } from '../role-tool.ts';
import type { RoleWork } from '../role-work.ts';
import { critiqueReply, feedbackOf } from './critique.ts';
import { type Fact, factLines } from './fact.ts';
import { researchReply } from './research.ts';

/** Roles whose work is criticised and done again (REQ-069a). */
type Retried = 'planner' | 'researcher' | 'expert';

const limit = z.int().positive();
const optionsSchema = z.looseObject({
  retry: z
    .looseObject({ planner: limit.default(3), researcher: limit.default(6), expert: limit.default(5) })
    .prefault({}),
});

const finalizeReply = z.object({ text: z.string() });

/** Exactly so (REQ-069f). */
function failureText(role: Retried): string {
  return `The question could not be answered due to ${role} failures.`;
}

/**
 * The panel's runner: planner → researcher → expert → critic → finalizer (REQ-005). Each of the first three is judged by the
 * critic and asked again with its feedback, up to a limit of its own; critic and finalizer are asked once (REQ-069g).
 */
export const moderate: Tool = entryTool({
  name: 'moderate',
  description: 'leads a panel: plan, research, reason, each criticised, then the final answer',
  async run(problem, work): Promise<Conclusion> {
    const { retry } = work.options(optionsSchema);
    const round = new Round(problem, retry, work);

    const plan = await round.plan();
    if (plan === undefined) return failedBy('planner');
    const facts = await round.research(plan);
    if (facts === undefined) return failedBy('researcher');
    const concluded = await round.reason(plan, facts);
    if (concluded === undefined) return failedBy('expert');

    if (plan.alternatives.length > 0 && !/\bcomparison\s*:/i.test(concluded.text)) {
      work.note('the plan names another way, and the expert did not compare the two');
    }
    const details = detailsOf(plan, facts, concluded.text);
    const expert = conclude(concluded);
    if (expert.answer === NO_ANSWER) {
      work.note('the expert came to no answer: there is nothing to finalize');
      return { ...expert, details };
    }
    const final = await round.finalize(plan, facts, concluded.text);
    if (final.answer !== expert.answer) {
      // It passed no critic as it stands (REQ-061).
      work.note(
        `the critic accepted the conclusion “${expert.answer}”; the finalizer’s form of it is “${final.answer}”`,
      );
    }
    return { ...final, details };
  },
});

function failedBy(role: Retried): Conclusion {
  const text = failureText(role);
  return { answer: text, raw: text, failedRole: role };
}

function detailsOf(plan: Plan, facts: readonly Fact[], conclusion: string): JsonObject {
  const sources = facts.filter(({ found, source }) => found && source !== '').map(({ source }) => source);
  const seen = [...conclusion.matchAll(/^\W*contradiction\W*:\W*(.+)$/gim)].map(([, text = '']) =>
    text.trim(),
  );
  return {
    sources: [...new Set(sources)],
    not_found: facts.filter(({ found }) => !found).map(({ fact }) => fact),
    // Premises that cannot all be true, by planner and expert (REQ-060).
    contradictions: [...plan.contradictions, ...seen],
  };
}

/** One question's way through the panel. */
class Round {
  readonly #question: string;
  readonly #document: string;
  readonly #file: { readonly file?: string };
  readonly #limits: Readonly<Record<Retried, number>>;
  readonly #work: RoleWork;

  constructor(
    { question, document, file }: Problem,
    limits: Readonly<Record<Retried, number>>,
    work: RoleWork,
  ) {
    this.#question = question;
    this.#document = document;
    this.#file = file === undefined ? {} : { file };
    this.#limits = limits;
    this.#work = work;
  }

  plan(): Promise<Plan | undefined> {
    const given = { question: this.#question, document: this.#document, ...this.#file, brief: '' };
    return this.#accepted('planner', async (feedback) => {
      const result = await this.#work.askRole('planner', { ...given, feedback }, planSchema);
      return { result, shown: JSON.stringify(result, null, 2) };
    });
  }

  /** The researcher is asked only where something from outside is needed (REQ-020). */
  async research({ needs_information, steps }: Plan): Promise<Fact[] | undefined> {
    if (!needs_information) {
      this.#work.note('the plan needs no information from outside: the researcher is not asked');
      return [];
    }
    const needing = steps.filter((step) => step.needs_information);
    // A planner that says it of the whole and of no step means all of them.
    const tasks = (needing.length === 0 ? steps : needing).map(({ task }) => task);
    return this.#accepted('researcher', async (feedback) => {
      const result = await this.#researched(tasks, feedback);
      return { result, shown: factLines(result) };
    });
  }

  reason(plan: Plan, facts: readonly Fact[]): Promise<z.infer<typeof answeredSchema> | undefined> {
    const given = { question: this.#question, document: this.#document, ...this.#file, plan, facts };
    return this.#accepted('expert', async (feedback) => {
      const result = await this.#work.askRole('expert', { ...given, feedback }, answeredSchema);
      return { result, shown: result.text };
    });
  }

  async finalize(plan: Plan, facts: readonly Fact[], conclusion: string): Promise<Conclusion> {
    const given = { question: this.#question, plan, facts, conclusion };
    const { text } = await this.#work.askRole('finalizer', given, finalizeReply);
    return conclude({ text, ended: 'answer' });
  }

  /** One step after the other, each with what those before it found (REQ-046, REQ-049). */
  async #researched(tasks: readonly string[], feedback: string): Promise<Fact[]> {
    const known: Fact[] = [];
    for (const task of tasks) {
      const given = { question: this.#question, ...this.#file, task, known: [...known], feedback };
      const { facts } = await this.#work.askRole('researcher', given, researchReply);
      known.push(...facts);
    }
    return known;
  }

  /**
   * A role's work, done again with the critic's feedback until it is accepted (REQ-037); undefined when its limit is used up. One
   * role's retries cost no other's (REQ-069c).
   */
  async #accepted<Result>(
    role: Retried,
    attempt: (feedback: string) => Promise<{ result: Result; shown: string }>,
  ): Promise<Result | undefined> {
    const limit = this.#limits[role];
    let feedback = '';
    for (let retry = 0; retry <= limit; retry++) {
      if (retry > 0)
        this.#work.note(`the ${role} is asked again, with the critic’s feedback (${retry} of ${limit})`);
      const { result, shown } = await attempt(feedback);
      const critique = await this.#work.askRole(
        'critic',
        { question: this.#question, role, work: shown },
        critiqueReply,
      );
      if (critique.accepted) return result;
      feedback = feedbackOf(critique);
    }
    this.#work.note(`gave up: the ${role}’s work was rejected ${limit + 1} times`);
    return undefined;
  }
}
