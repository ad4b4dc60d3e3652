import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { findText, toCount, toList, toObject, toText } from '../loose-values.ts';
import type { ImportedMessage, TrafficFormat } from '../message.ts';

/** A failure of the Who&When set with its label; its keys differ between the two halves of the set. */
interface LabelledFailure {
  readonly id: string;
  readonly question: string;
  readonly truth: string | undefined;
  readonly steps: readonly Step[];
  readonly mistakeAgent: string;
  /** Index of the step in the history, from 0. */
  readonly mistakeStep: number;
}

interface Step {
  readonly agent: string;
  /** The agent that is addressed, if the role names it. */
  readonly to: string | undefined;
  /** A remark of the role, such as `thought`. */
  readonly kind: string | undefined;
  readonly content: unknown;
}

/** Agents that stand for the person who asks. */
const PERSON = 'human';

/** Reads a failure of the set; returns undefined for any other value. */
export function readLabelledFailure(value: unknown, fallbackId: string): LabelledFailure | undefined {
  const failure = toObject(value);
  if (failure === undefined || !Array.isArray(failure.history)) return undefined;
  const mistakeAgent = toText(failure.mistake_agent);
  const mistakeStep = toCount(failure.mistake_step);
  if (mistakeAgent === undefined || mistakeStep === undefined) return undefined;
  return {
    id: findText(failure, ['question_ID', 'question_id', 'id']) ?? fallbackId,
    question: toText(failure.question) ?? '',
    truth: findText(failure, ['ground_truth', 'groundtruth']),
    steps: toList(failure.history).map((step) => readStep(toObject(step) ?? {})),
    mistakeAgent,
    mistakeStep,
  };
}

/** Hand-crafted teams have the agent in the role: `Orchestrator (-> WebSurfer)`, `Orchestrator (thought)`. */
function readStep({ name, role, content = null }: JsonObject): Step {
  const said = toText(name) ?? toText(role) ?? 'unknown';
  const [, agent = said, remark] = /^([^()]+?) ?\(([^()]*)\)$/.exec(said.slice(0, 200)) ?? [];
  const to = remark?.startsWith('->') === true ? remark.slice(2).trim() : undefined;
  return { agent, to, kind: to === undefined ? remark : undefined, content };
}

/**
 * Imports failures of the Who&When set: each is a task, and each step of its history a message. The recording leaves out the label,
 * so that a person or a model that looks for the mistake cannot read it there.
 */
const importFailures: TrafficFormat['read'] = (values, notes) => {
  const messages: ImportedMessage[] = [];
  const tasks = new Map<string, number>();
  for (const { value, where } of values) {
    const failure = readLabelledFailure(value, where.replaceAll(' ', '-'));
    if (failure === undefined) {
      notes.drop('values that are no labelled failures', where);
      continue;
    }
    const { id, question, steps } = failure;
    const before = tasks.get(id) ?? 0;
    tasks.set(id, before + 1);
    const task = before === 0 ? id : `${id}-${before + 1}`;
    const said = { task, atUs: undefined };
    const [first] = steps;
    if (question !== '' && first !== undefined && first.content !== question)
      messages.push({ ...said, from: PERSON, to: first.agent, type: 'question', payload: { question } });
    steps.forEach(({ agent, to, kind, content }, step) => {
      if (to === undefined) notes.guess('recipients of steps, taken as those who speak next');
      const next = steps.slice(step + 1).find((one) => one.agent !== agent)?.agent ?? PERSON;
      messages.push({
        ...said,
        from: agent,
        to: to ?? next,
        type: kind ?? 'message',
        payload: { step, content },
      });
    });
    notes.drop('labels of failures');
  }
  return messages;
};

export const whoAndWhen: TrafficFormat = {
  name: 'who-and-when',
  about: 'labelled failures of the public Who&When set',
  read: importFailures,
  findSign: (value) =>
    readLabelledFailure(value, '') === undefined ? undefined : 'mistake_agent and mistake_step',
};
