import * as z from 'zod';

/** Phases that the Trace Event Format has. */
const PHASES = 'BEXibnestfPCNODMVvRc(),';

const eventSchema = z.strictObject({
  name: z.string().min(1),
  ph: z.string().length(1),
  pid: z.int(),
  tid: z.int().default(0),
  cat: z.string().optional(),
  ts: z.number().nonnegative().optional(),
  dur: z.number().nonnegative().optional(),
  id: z.string().min(1).optional(),
  bp: z.literal('e').optional(),
  args: z.record(z.string(), z.unknown()).optional(),
});
type Event = z.infer<typeof eventSchema>;

const traceSchema = z.strictObject({
  traceEvents: z.array(eventSchema),
  displayTimeUnit: z.enum(['ms', 'ns']).optional(),
  otherData: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Returns what a viewer would refuse in a trace, or would draw in the wrong place, by the description of the Trace
 * Event Format alone: required fields of each phase, nested slices of a thread, beginnings with ends, and arrows with a
 * slice at both ends.
 */
export function faultsOfTrace(text: string): string[] {
  const { success, data, error } = traceSchema.safeParse(JSON.parse(text));
  if (!success) return [z.prettifyError(error)];
  const { traceEvents } = data;
  return [
    ...traceEvents.flatMap(faultsAlone),
    ...threadsOf(traceEvents).flatMap(faultsOfThread),
    ...faultsOfAsync(traceEvents),
    ...faultsOfFlows(traceEvents),
    ...unnamed(traceEvents),
  ];
}

function faultsAlone({ name, ph, ts, dur, id, cat, args = {} }: Event): string[] {
  const faults: string[] = [];
  if (!PHASES.includes(ph)) faults.push(`${name}: no phase ${ph}`);
  if (ph !== 'M' && ts === undefined) faults.push(`${name}: ${ph} without ts`);
  if (ph === 'X' && dur === undefined) faults.push(`${name}: X without dur`);
  if ('besf'.includes(ph) && (id === undefined || cat === undefined))
    faults.push(`${name}: ${ph} without id and cat`);
  if (ph === 'C' && Object.values(args).some((value) => typeof value !== 'number'))
    faults.push(`${name}: a counter counts numbers`);
  if (ph === 'M' && name.endsWith('_name') && typeof args.name !== 'string')
    faults.push(`${name}: without a name`);
  return faults;
}

const threadOf = ({ pid, tid }: Event) => `${pid}/${tid}`;
const endOf = ({ ts = 0, dur = 0 }: Event) => ts + dur;

function threadsOf(events: readonly Event[]): Event[][] {
  return [
    ...Map.groupBy(
      events.filter(({ ph }) => ph === 'X'),
      threadOf,
    ).values(),
  ];
}

/**
 * Checks that a viewer can stack the slices of a thread in order of time: none may end after the slice in which it
 * began.
 */
function faultsOfThread(slices: readonly Event[]): string[] {
  const open: Event[] = [];
  return slices
    .toSorted((a, b) => (a.ts ?? 0) - (b.ts ?? 0) || endOf(b) - endOf(a))
    .flatMap((slice) => {
      while (open.length > 0 && endOf(open.at(-1) ?? slice) <= (slice.ts ?? 0)) open.pop();
      const around = open.at(-1);
      open.push(slice);
      return around === undefined || endOf(slice) <= endOf(around)
        ? []
        : [`${slice.name} at ${slice.ts} ends after ${around.name}, in which it began`];
    });
}

function faultsOfAsync(events: readonly Event[]): string[] {
  const open = new Map<string, Event[]>();
  const faults: string[] = [];
  for (const event of events.filter(({ ph }) => ph === 'b' || ph === 'e')) {
    const key = JSON.stringify([event.cat, event.id, event.name]);
    const own = open.get(key) ?? [];
    open.set(key, own);
    if (event.ph === 'b') own.push(event);
    else if ((own.pop()?.ts ?? Number.POSITIVE_INFINITY) > (event.ts ?? 0))
      faults.push(`${event.name}: ends without or before its beginning`);
  }
  for (const [key, left] of open) if (left.length > 0) faults.push(`${key}: does not end`);
  return faults;
}

function faultsOfFlows(events: readonly Event[]): string[] {
  const slices = Map.groupBy(
    events.filter(({ ph }) => ph === 'X'),
    threadOf,
  );
  const isHeld = (end: Event) =>
    (slices.get(threadOf(end)) ?? []).some(
      (slice) => (slice.ts ?? 0) <= (end.ts ?? 0) && (end.ts ?? 0) <= endOf(slice),
    );
  const flows = Map.groupBy(
    events.filter(({ ph }) => ph === 's' || ph === 'f'),
    ({ cat, id, name }) => JSON.stringify([cat, id, name]),
  );
  return [...flows].flatMap(([key, ends]) => {
    const [begin, end] = [ends.find(({ ph }) => ph === 's'), ends.find(({ ph }) => ph === 'f')];
    if (begin === undefined || end === undefined || ends.length !== 2) return [`${key}: not two ends`];
    if ((begin.ts ?? 0) > (end.ts ?? 0)) return [`${key}: backwards in time`];
    return isHeld(begin) && isHeld(end) && end.bp === 'e' ? [] : [`${key}: not between two slices`];
  });
}

function unnamed(events: readonly Event[]): string[] {
  const named = new Set(events.filter(({ ph }) => ph === 'M').map(({ pid }) => pid));
  return [...new Set(events.map(({ pid }) => pid))]
    .filter((pid) => !named.has(pid))
    .map((pid) => `process ${pid} has no name`);
}
