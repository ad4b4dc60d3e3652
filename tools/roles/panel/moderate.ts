import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { NO_ANSWER } from '../../answers/answer-format.ts';
import { type Fact, formatFacts } from '../../answers/fact.ts';
import { OfferedTools } from '../../foreign/offered.ts';
import { answeredSchema, conclude } from '../answer/answered.ts';
import { formatPlan, type Plan, planSchema } from '../plan.ts';
import { type Conclusion, createEntryTool, type Problem } from '../role-tool.ts';
import type { RoleWork } from '../role-work.ts';
import { formatTrace } from '../trace.ts';
import { critiqueReply, formatFeedback } from './critique.ts';
import { researchReply } from './research.ts';

/** Roles whose work is criticised and repeated (REQ-069a). */
type Retried = 'planner' | 'researcher' | 'expert';

const limit = z.int().positive();
const optionsSchema = z.looseObject({
  retry: z
    .looseObject({ planner: limit.default(3), researcher: limit.default(6), expert: limit.default(5) })
    .prefault({}),
});

const finalizeReply = z.object({ text: z.string() });

/** Returns the failure text that REQ-069f prescribes word for word. */
function formatFailure(role: Retried): string {
  return `The question could not be answered due to ${role} failures.`;
}

/**
 * The panel's runner: planner → researcher → expert → critic → finalizer (REQ-005). The critic judges the work of each of the first
 * three, which are asked again with its feedback, up to a limit of their own; critic and finalizer are asked once (REQ-069g).
 */
export const moderate: Tool = createEntryTool({
  name: 'moderate',
  description: 'leads a panel: plan, research, reason, each criticised, then the final answer',
  async run(problem, work): Promise<Conclusion> {
    const { retry } = work.options(optionsSchema);
    const round = new Round(problem, retry, work);
    try {
      return await runDiscussion(round, work);
    } catch (error) {
      const { concluded } = round;
      if (concluded === undefined || work.context.signal.aborted) throw error;
      if (work.isTimeUp(error))
        work.note('the time is up: the expert’s conclusion stands, without critic and finalizer');
      else if (isUnusable(error)) work.note(`the expert’s conclusion stands: ${error.message}`);
      else throw error;
      return conclude(concluded);
    }
  },
});

/** Returns true if a model replied to a role, and its reply cannot be used: the work of the others is none the worse for it. */
function isUnusable(error: unknown): error is MeshError {
  return error instanceof MeshError && error.code === 'reply';
}

async function runDiscussion(round: Round, work: RoleWork): Promise<Conclusion> {
  const plan = await round.plan();
  if (plan === undefined) return concludeFailure('planner');
  const facts = await round.research(plan);
  if (facts === undefined) return concludeFailure('researcher');
  const concluded = await round.reason(plan, facts);
  if (concluded === undefined) return concludeFailure('expert');

  if (plan.alternatives.length > 0 && !/\bcomparison\s*:/i.test(concluded.text)) {
    work.note('the plan names another way, and the expert did not compare the two');
  }
  const details = buildDetails(plan, facts, concluded.text);
  const expert = conclude(concluded);
  if (expert.answer === NO_ANSWER) {
    work.note('the expert found no answer: there is nothing to finalize');
    return { ...expert, details };
  }
  const final = await round.finalize(plan, facts, concluded.text);
  if (final.answer !== expert.answer) {
    // The critic has not seen this wording (REQ-061).
    work.note(
      `the critic accepted the conclusion “${expert.answer}”; the finalizer’s form of it is “${final.answer}”`,
    );
  }
  const confidence = final.answer === expert.answer ? expert.confidence : undefined;
  return { ...final, confidence, details };
}

function concludeFailure(role: Retried): Conclusion {
  const text = formatFailure(role);
  return { answer: text, raw: text, failedRole: role };
}

function buildDetails(plan: Plan, facts: readonly Fact[], conclusion: string): JsonObject {
  const sources = facts.filter(({ found, source }) => found && source !== '').map(({ source }) => source);
  const seen = [...conclusion.matchAll(/^\W*contradiction\W*:\W*(.+)$/gim)].map(([, text = '']) =>
    text.trim(),
  );
  return {
    sources: [...new Set(sources)],
    not_found: facts.filter(({ found }) => !found).map(({ fact }) => fact),
    // Premises that cannot all be true, found by planner and expert (REQ-060).
    contradictions: [...plan.contradictions, ...seen],
  };
}

/** The state of one question in the panel. */
class Round {
  /** The expert’s last conclusion, accepted or not. */
  concluded: z.infer<typeof answeredSchema> | undefined;
  readonly #question: string;
  readonly #document: string;
  readonly #file: Problem['attached'];
  readonly #limits: Readonly<Record<Retried, number>>;
  readonly #work: RoleWork;

  constructor(problem: Problem, limits: Readonly<Record<Retried, number>>, work: RoleWork) {
    this.#question = problem.question;
    this.#document = problem.document;
    this.#file = problem.attached;
    this.#limits = limits;
    this.#work = work;
  }

  async plan(): Promise<Plan | undefined> {
    const tools = [...new Set([...this.#listTools('researcher'), ...this.#listTools('expert')])];
    const known = { tools, ...(await OfferedTools.toPlan(this.#work)) };
    const given = { question: this.#question, document: this.#document, ...this.#file, ...known, brief: '' };
    return this.#repeatUntilAccepted('planner', { facts: '', show: formatPlan }, (feedback, last) =>
      this.#work.askRole(
        'planner',
        { ...given, last: last === undefined ? '' : formatPlan(last), feedback },
        planSchema,
      ),
    ).catch((error: unknown) => {
      if (!this.#isCutOff(error)) throw error;
      this.#work.note('the planner’s time was up: the question is the only step');
      return this.#planWithoutPlanner();
    });
  }

  /** Returns true if a role has used up its part of the time, and the panel has time for the others. */
  #isCutOff(error: unknown): error is MeshError {
    return error instanceof MeshError && error.code === 'limit' && !this.#work.isOutOfTime;
  }

  #planWithoutPlanner(): Plan {
    const needs_information = this.#document === '';
    return {
      question_type: 'unknown',
      sub_problems: [this.#question.slice(0, 2000)],
      strategy: 'answer the question',
      steps: [{ task: 'answer the question', tool: '', needs_information, uses: [] }],
      needs_information,
      failure_modes: [],
      alternatives: [],
      contradictions: [],
    };
  }

  #listTools(id: 'researcher' | 'expert'): readonly string[] {
    return this.#work.context.partners.find((partner) => partner.id === id)?.tools ?? [];
  }

  /**
   * Asks the researcher, but only if information from outside is needed (REQ-020). A step with a tool that the researcher alone may call
   * needs it, whatever the plan says: no other role could do the step.
   */
  async research({ needs_information, steps }: Plan): Promise<readonly Fact[] | undefined> {
    const ofExpert = this.#listTools('expert');
    const own = this.#listTools('researcher').filter((tool) => !ofExpert.includes(tool));
    const hasOwnTool = ({ tool }: Plan['steps'][number]) => own.includes(tool);
    if (!needs_information && !steps.some(hasOwnTool)) {
      this.#work.note('the plan needs no information from outside: the researcher is not asked');
      return [];
    }
    const needing = steps.filter((step) => (needs_information && step.needs_information) || hasOwnTool(step));
    // A planner that marks the whole plan but no step means all of them.
    const tasks = (needing.length === 0 ? steps : needing).map(({ task }) => task);
    return this.#repeatUntilAccepted(
      'researcher',
      { facts: '', show: formatFacts },
      (feedback, last: Fact[] | undefined) =>
        last === undefined ? this.#collectFacts(tasks) : this.#correctFacts(tasks, feedback, last),
    );
  }

  reason(plan: Plan, facts: readonly Fact[]): Promise<z.infer<typeof answeredSchema> | undefined> {
    const given = { question: this.#question, document: this.#document, ...this.#file, plan, facts };
    const shown = { facts: formatFacts(facts), show: ({ text }: z.infer<typeof answeredSchema>) => text };
    return this.#repeatUntilAccepted('expert', shown, async (feedback, last) => {
      const asked = { ...given, last: last?.text ?? '', feedback };
      this.concluded = await this.#work.askRole('expert', asked, answeredSchema);
      return this.concluded;
    });
  }

  async finalize(plan: Plan, facts: readonly Fact[], conclusion: string): Promise<Conclusion> {
    const given = { question: this.#question, plan, facts, conclusion };
    const { text } = await this.#work.askRole('finalizer', given, finalizeReply);
    return conclude({ text, ended: 'answer' });
  }

  /** Researches one step after the other, each with the results of those before it (REQ-046, REQ-049). */
  async #collectFacts(tasks: readonly string[]): Promise<Fact[]> {
    const known: Fact[] = [];
    for (const task of tasks) {
      const given = {
        question: this.#question,
        ...this.#file,
        task,
        known: [...known],
        last: [],
        feedback: '',
      };
      const { facts } = await this.#work.askRole('researcher', given, researchReply);
      known.push(...facts);
    }
    return known;
  }

  /** Corrects the reported facts in one request: facts that the critic accepted are not researched again. */
  async #correctFacts(tasks: readonly string[], feedback: string, last: readonly Fact[]): Promise<Fact[]> {
    const given = { question: this.#question, ...this.#file, task: tasks.join('; then: '), known: [] };
    const { facts } = await this.#work.askRole('researcher', { ...given, last, feedback }, researchReply);
    return facts;
  }

  /**
   * Repeats a role's work with the critic's feedback until it is accepted (REQ-037); returns undefined when its limit is used up. One
   * role's retries do not count against another's (REQ-069c).
   */
  async #repeatUntilAccepted<Result>(
    role: Retried,
    { facts, show }: { readonly facts: string; readonly show: (result: Result) => string },
    attempt: (feedback: string, last: Result | undefined) => Promise<Result>,
  ): Promise<Result | undefined> {
    const limit = this.#limits[role];
    let feedback = '';
    let last: Result | undefined;
    for (let retry = 0; retry <= limit; retry++) {
      if (retry > 0)
        this.#work.note(`the ${role} is asked again, with the critic’s feedback (${retry} of ${limit})`);
      const before = this.#work.trace.entries.length;
      const result = await attempt(feedback, last);
      const steps = this.#work.trace.entries.slice(before).filter(({ kind }) => kind === 'tool');
      const work = { role, work: show(result), document: this.#document, facts, steps: formatTrace(steps) };
      const critique = await this.#work
        .askRole('critic', { question: this.#question, ...this.#file, ...work }, critiqueReply)
        .catch((error: unknown) => {
          if (!isUnusable(error) && !this.#isCutOff(error)) throw error;
          this.#work.note(`the ${role}’s work stands unjudged: ${error.message}`);
          return undefined;
        });
      if (critique === undefined || critique.accepted) return result;
      feedback = formatFeedback(critique);
      last = result;
    }
    this.#work.note(`gave up: the ${role}’s work was rejected ${limit + 1} times`);
    return undefined;
  }
}
