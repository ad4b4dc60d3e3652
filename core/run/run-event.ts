import * as z from 'zod';
import { TASK_STATUSES } from '../hub/tasks/task-clock.ts';
import { tryParseJson } from '../system/json-line.ts';

const text = (description: string) => z.string().describe(description);
const whole = (description: string) => z.int().nonnegative().describe(description);
const amount = (description: string) => z.number().nonnegative().describe(description);
const microseconds = (description: string) =>
  z.number().describe(`monotonic microseconds at which ${description}`);

/** The fields of every event. */
const stamp = {
  time: z.number().describe('milliseconds since 1970 at which it happened, with fractions'),
  level: z
    .enum(['info', 'warn'])
    .optional()
    .describe('`warn` where something was refused, lost or injected; only in a file'),
  n: z
    .int()
    .positive()
    .optional()
    .describe(
      'number of the event in its stream, from 1; a gap means that events are no longer kept; not in a file',
    ),
};

const agent = { id: text('id of the agent'), tool: text('its tool') };
const task = { task_id: text('id of the task') };

const packet = {
  type: text('type of the packet'),
  from: text('id of its sender'),
  to: text('id of its recipient; missing where it was for all agents').optional(),
  id: text('id of the packet'),
  ...task,
  tag: text('`final_answer` or `task_failed` where it ends the task').optional(),
  token_used: whole('tokens that the work for it took'),
  bytes: whole('bytes of its whole frame'),
  recipients: whole('number of agents that received it'),
};

const delivery = {
  from: text('id of the sender'),
  to: text('id of the recipient'),
  number: whole('which delivery from this sender to this recipient it was').optional(),
  id: text('id of the packet'),
  type: text('type of the packet'),
  ...task,
  bytes: whole('bytes of its frame').optional(),
};

const counts = {
  packets: whole('packets of agents'),
  bytes: whole('bytes of their whole frames'),
  tokens: whole('tokens that they reported'),
};

/** Declares an event; its sentence stands in the documentation. */
function event<const Name extends string, Shape extends z.core.$ZodShape>(
  name: Name,
  description: string,
  shape: Shape,
) {
  return z.object({ event: z.literal(name), ...stamp, ...shape }).describe(description);
}

/**
 * The events of a run. They are lines of `hub.log` as they happen, and a live page receives the same ones,
 * packets of a flood sampled, with exact `totals`. Only a stream has the events from `totals` on.
 */
export const runEventSchema = z.discriminatedUnion('event', [
  event('run_began', 'A run began; the following events belong to it, until the next one begins.', {
    run_id: text('id of the run'),
    team: text('name of the team'),
    adapter: text('name of the adapter; in a comparison the names of its arms'),
    engine: text('name of the engine'),
    agents: z.array(z.object(agent)).describe('the agents of the team'),
    questions: whole('number of questions')
      .nullable()
      .describe('number of questions; null where it is not known'),
  }),
  event('agent_up', 'An agent listens, or is back after a loss.', {
    ...agent,
    where: text('where it listens'),
    pid: whole('id of its process, where this run started it').optional(),
  }),
  event('agent_lost', 'The connection to an agent ended, and its process is not known to have ended.', {
    ...agent,
    reason: text('why it ended'),
  }),
  event('agent_died', 'The process of an agent ended.', { ...agent, how: text('how it ended') }),
  event('task_began', 'A task is about to be broadcast.', {
    ...task,
    question: text('the beginning of the question'),
  }),
  event('broadcast', 'The packet with the document that opens a task was sent to all agents.', {
    ...packet,
    ts: whole('milliseconds since 1970 that the packet carries').optional(),
    began_us: microseconds('the broadcast began').optional(),
    encode_us: amount('microseconds that its encoding took').optional(),
    forwarded_us: microseconds('it was written').optional(),
  }),
  event('packet', 'The hub relayed a packet.', {
    ...packet,
    arrived_us: microseconds('it arrived').optional(),
    forwarded_us: microseconds('it was written').optional(),
  }),
  event(
    'refused',
    'The hub refused a packet. The first twenty have a line each, then one a second has one.',
    {
      from: text('id of the sender'),
      reason: text('why it was refused'),
      bytes: whole('bytes of its frame').optional(),
      left_out: whole('refusals since the last line that have none').optional(),
    },
  ),
  event(
    'task_ended',
    "A task ended. A second one for the same task adds to the first: a batch's scorer has judged the answer.",
    {
      ...task,
      status: z.enum(TASK_STATUSES).describe('how it ended'),
      answer: text('the answer').nullable().describe('the answer; null where there is none'),
      reason: text('why there is no answer').optional(),
      elapsed_ms: amount('milliseconds from the broadcast to the end'),
      token_sum: whole('tokens')
        .nullable()
        .describe('tokens that packets reported; null where they were not counted'),
      correct: amount("score by the team's scorer; 1 is right, null is not known").nullish(),
      normalized_em: amount('score by normalized exact match; 1 is right, null is not known').nullish(),
      cost_usd: amount(
        'US dollars; null where a price is not known, missing where no model was asked',
      ).nullish(),
      cached: z.literal(true).optional().describe('the answer was taken from the cache'),
      question: text('the beginning of the question, where no event told it before').optional(),
    },
  ),
  event('fault', 'An injected fault struck a delivery.', {
    kind: text('`drop`, `delay`, `dup`, `corrupt` or `lie`'),
    ...delivery,
    delay_ms: amount('milliseconds by which it was delayed').optional(),
  }),
  event('undeliverable', 'The recipient of a delivery was gone.', {
    kind: text('`undeliverable`'),
    ...delivery,
  }),
  event('fault_began', 'A fault with a time of its own struck.', {
    kind: text('`kill`'),
    fault: text('the fault as the user wrote it'),
  }),
  event('restart', 'Something happened to an agent that is being restarted.', {
    news: text('what happened, in words'),
  }),
  event('run_ended', 'The run is over.', {
    status: text('the worst status of its tasks'),
    balanced: z.boolean().optional().describe('whether the ledgers of hub and agents agree'),
  }),
  event('cut', 'The log reached its bound: it has nothing of what follows.', {
    cut: text('the bound, in words'),
  }),
  event('totals', 'The amounts of the run so far. Where they come, packet events are a sample.', {
    ...counts,
    unshown: whole('packets that were counted but not sent as events'),
    agents: z.record(z.string(), z.object(counts)).describe('amounts of the agents that changed, by id'),
    faults: z.record(z.string(), whole('number')).describe('number of faults and losses by kind'),
  }),
  event('sample', 'One more invocation of a comparison was measured.', {
    arm: text('name of the arm'),
    ms: amount('milliseconds')
      .nullable()
      .describe('milliseconds of an exchange or a round; null where the load was too high'),
    bytes: whole('bytes').nullable().describe('its bytes; null where this invocation did not count them'),
  }),
  event('progress', 'A comparison went on.', {
    share: amount('the share that is done'),
    text: text('the current step'),
  }),
  event('workers', 'The workers that answer a queued batch, as they are now.', {
    workers: z
      .array(
        z.object({
          id: text('name of the worker: its machine and process'),
          slots: whole('questions that it answers at once'),
          running: whole('questions that it is answering'),
          done: whole('questions that it has answered since it started'),
        }),
      )
      .describe('those that were heard of within the time of a heartbeat'),
  }),
  event('note', 'A notice for people.', { text: text('the notice') }),
  event('stream_ended', 'The command is over; no event follows.', { text: text('how it ended') }),
]);

export type RunEvent<Name extends string = string> = Extract<z.infer<typeof runEventSchema>, { event: Name }>;

/** An event that gets its time from its recipient, unless it has one. */
export type NewRunEvent<Each = RunEvent> = Each extends RunEvent
  ? Omit<Each, 'time'> & { time?: number }
  : never;

/**
 * Yields the events in the text of a hub's log. Lines of other forms are skipped: a last one that is cut, and
 * the notice of a log that reached its bound.
 *
 * @param names the events that are wanted; without it all
 */
export function* readRunEvents<Name extends RunEvent['event'] = RunEvent['event']>(
  log: string,
  names?: readonly Name[],
): Generator<RunEvent<Name>> {
  const marks = names?.map((name) => `"event":"${name}"`);
  for (let at = 0; at < log.length; ) {
    const feed = log.indexOf('\n', at);
    const end = feed < 0 ? log.length : feed;
    const line = log.slice(at, end);
    at = end + 1;
    if (marks !== undefined && !marks.some((mark) => line.includes(mark))) continue;
    const found = runEventSchema.safeParse(tryParseJson(line)).data;
    if (found !== undefined && isOneOf(found, names)) yield found;
  }
}

function isOneOf<Name extends string>(
  found: RunEvent,
  names: readonly Name[] | undefined,
): found is RunEvent<Name> {
  return names === undefined || names.some((name) => name === found.event);
}
