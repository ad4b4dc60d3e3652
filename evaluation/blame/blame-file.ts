import * as z from 'zod';
import { VERDICTS } from './judge.ts';

const chance = z.number().min(0).max(1);
const whole = z.int().nonnegative();

const effectSchema = z.strictObject({
  chance: chance.describe('of a right answer with what is said instead'),
  difference: z.number().describe('that chance less the one with the message as it was'),
  low: z.number().describe('lower end of its 95 % interval'),
  high: z.number().describe('upper end'),
  adjusted_p: chance
    .nullable()
    .describe(
      'one-sided, for a gain, after Holm’s correction: for the suspects where a sender speaks again, for all messages elsewhere; null where it was not tested',
    ),
});

const messageSchema = z.strictObject({
  place: whole.describe('counted from 1, as the hub relayed the messages of the question'),
  id: z.string(),
  from: z.string(),
  to: z.string().nullable(),
  type: z.string(),
  says: z.string().describe('what it said, shortened'),
  chance: chance.describe('of a right answer once all messages up to this one are as they were'),
  tries: whole,
  again: effectSchema.describe('its sender speaks again instead'),
  own: effectSchema.describe(
    'its sender speaks again instead, and answers that are not the recorded one are counted in place of right ones',
  ),
  detectable: chance
    .nullable()
    .describe('the smallest fall of the chance to 0 that its tries find in four of five analyses'),
  replaced: z
    .strictObject({ truth: effectSchema.exactOptional() })
    .describe('the truth stands in its place, where it was tried'),
  verdict: z.enum(VERDICTS),
});

/** The findings of `gaia blame`: `blame.json`. */
export const blameSchema = z.strictObject({
  schema_version: z.literal(1),
  complete: z.boolean(),
  ended_by: z.string().optional(),
  task_id: z.string(),
  question: z.string(),
  truth: z.string(),
  answer: z.string().describe('of the recorded run'),
  correct: z.boolean().describe('whether it was right'),
  team: z.string(),
  /** Engine of the agents that answer again. */
  engine: z.string(),
  model: z.string().nullable(),
  archive: z.string(),
  tries: whole.describe(
    'of each branch at first; undecided messages have more, and suspects fresh ones, which alone convict them',
  ),
  margin: chance.describe('changes of the chance that count as none'),
  branches: z.strictObject({
    asked: whole,
    right: whole,
    departed: whole.describe('not as it was recorded before they branched off: left out'),
    failed: whole.describe('without an answer, counted as wrong'),
    tokens: whole.nullable().describe('null where a model’s server did not say'),
    own_tokens: whole.describe('of the recorded question: the branches take less than 30 times as many'),
    cost: z.number().nullable(),
  }),
  departed: z.string().optional().describe('why the first of them is none'),
  outset: z.strictObject({ chance, tries: whole }).describe('nothing is as it was: the question asked anew'),
  messages: z.array(messageSchema),
  /** Places of messages that made the answer wrong, the largest effect first, and then of those that changed the wrong answer. */
  blamed: z.array(whole),
  headline: z.string(),
  measured_at: z.iso.datetime().describe('end of the search'),
  command: z.string().describe('the line that searched, to be pasted again'),
  machine: z.string().describe('where it searched'),
});
export type BlameFile = z.infer<typeof blameSchema>;
