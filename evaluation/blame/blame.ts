import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { BLAME_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import type { BatchEnd } from '../batch/batch.ts';
import { formatAttemptKey } from '../batch/journal/journal.ts';
import { type RunContext, Runner } from '../batch/runner.ts';
import type { Question } from '../questions/question.ts';
import type { BlameFile } from './blame-file.ts';
import type { BlamePlan } from './blame-plan.ts';
import { blameFile, judgeBranches } from './blame-results.ts';
import { findCulprits, findSuspects } from './judge.ts';
import { type Arm, Trials } from './trials.ts';

/** Parts of the bound of tokens: up to each, the search, clearing and the fresh tries may go. The rest is for the truth. */
const SHARES = { scan: 0.5, search: 0.65, clear: 0.75, fresh: 0.98, replace: 1 } as const;
/** Tries of a place in a search that cannot afford to try all of them. */
const SEARCH_TRIES = 3;
/** Minimum tries of a place that say anything. */
const LEAST_TRIES = 2;

/**
 * Runs branches of the question and judges its messages: first the places where the chance of a right answer, or of the recorded one,
 * changes; then suspects, with fresh tries, until they are decided; then the truth in place of messages. All together cost less than
 * {@link BLAME_LIMITS} allows.
 */
export async function blame(
  plan: BlamePlan,
  context: RunContext & {
    /** Receives the number of branches that are decided so far. */
    readonly onPlanned: (branches: number) => void;
  },
): Promise<{ found: BlameFile; end: BatchEnd }> {
  const trials = new Trials(plan, (taskId) =>
    Array.from({ length: BLAME_LIMITS.freshTries }, (_, i) =>
      runner.journal.read({ task_id: taskId, team: plan.team.team.name, cycle: i + 1 }),
    ).filter((result) => result !== undefined),
  );
  const file = JSON.stringify(trials.buildBranchFile());
  mkdirSync(path.dirname(plan.branches), { recursive: true });
  writeWhole(plan.branches, file);
  const fingerprint = { ...plan.fingerprint, branches: createHash('sha256').update(file).digest('hex') };
  const runner = new Runner({ ...plan, fingerprint });
  let planned = 0;
  const shown = new Set<string>();
  const onEvent: RunContext['onEvent'] = (event) => {
    if (event.kind === 'kept' || event.kind === 'finished') {
      // A later stage meets the branches of earlier ones again.
      const key = formatAttemptKey(event.attempt);
      if (shown.has(key)) return;
      shown.add(key);
    }
    context.onEvent(event);
  };
  const ask = async (chosen: readonly Arm[], tries: number): Promise<BatchEnd> => {
    const asked = chosen.filter((arm) => trials.count(arm) < tries);
    if (asked.length === 0) return FINISHED;
    for (const arm of asked) {
      planned += tries - trials.count(arm);
      trials.setCount(arm, tries);
    }
    context.onPlanned(planned);
    const questions = asked.map(({ taskId }): Question => ({ ...plan.question, taskId }));
    return (await runner.runTeam(plan.team, { ...context, onEvent }, { questions, repeat: tries })).end;
  };
  try {
    const end = await examine(plan, trials, ask);
    return { found: blameFile(plan, trials, end), end };
  } finally {
    await runner.close();
  }
}

const FINISHED: BatchEnd = { kind: 'finished' };

/** The parts of a plan by which branches are judged. */
type Examined = Parameters<typeof judgeBranches>[0];

/** Brings arms to a number of tries. */
type Ask = (arms: readonly Arm[], tries: number) => Promise<BatchEnd>;

/** Decides which arms are tried, and how often. */
export async function examine(plan: Examined, trials: Trials, ask: Ask): Promise<BatchEnd> {
  let end: BatchEnd = FINISHED;
  for (const stage of [search, clear, confirm, replace, settle])
    if (end.kind === 'finished') end = await stage(plan, trials, ask);
  return end;
}

/** Finds the places where a chance changes: it tries all places if it can afford them, or else halves the stretches that hold a change. */
async function search(plan: Examined, trials: Trials, ask: Ask): Promise<BatchEnd> {
  const kept = trials.arms.filter(({ says }) => says === 'kept');
  // The first tries show how much longer than the recorded team a live one takes.
  const begun = trials.ownTokens === 0 ? FINISHED : await ask(kept.slice(0, 1), LEAST_TRIES);
  if (begun.kind !== 'finished') return begun;
  if (trials.fit(kept, plan.tries, SHARES.scan) === plan.tries) return ask(kept, plan.tries);
  const last = kept.length - 1;
  let places = [0, last];
  for (;;) {
    const chosen = places.flatMap((place) => trials.find(place, 'kept') ?? []);
    const tries = trials.fit(chosen, Math.min(plan.tries, SEARCH_TRIES), SHARES.search);
    if (tries < Math.min(plan.tries, LEAST_TRIES)) return FINISHED;
    const end = await ask(chosen, tries);
    if (end.kind !== 'finished') return end;
    places = listHalves(plan, trials);
    if (places.length === 0) return FINISHED;
  }
}

/** Returns the middles of the stretches between tried places in which a chance changes. */
function listHalves(plan: Examined, trials: Trials): number[] {
  const { outset, tallies } = judgeBranches(plan, trials);
  const tried = [outset, ...tallies.map(({ kept }) => kept)].flatMap((kept, place) =>
    kept.tries === 0 ? [] : [{ kept, place, replaced: {} }],
  );
  return tried.slice(1).flatMap((to, index) => {
    const from = tried[index] ?? to;
    const isLong = to.place - from.place > 1;
    const middle = (from.place + to.place) >> 1;
    const arm = trials.find(middle, 'kept');
    // A place whose tries all departed from the recording is not tried again.
    const isNew = arm !== undefined && trials.count(arm) === 0;
    return isLong && isNew && findSuspects(from.kept, [to]).length > 0 ? [middle] : [];
  });
}

/** Adds tries where there is no suspect yet and the first tries cannot tell, from the last place to the first: late ones cost least. */
async function clear(plan: Examined, trials: Trials, ask: Ask): Promise<BatchEnd> {
  const { outset, tallies, messages } = judgeBranches(plan, trials);
  const isOpen = messages.some(({ verdict }) => verdict === 'cannot tell');
  if (!isOpen || findSuspects(outset, tallies).length > 0) return FINISHED;
  const tried = trials.arms.filter((arm) => arm.says === 'kept' && trials.count(arm) > 0).reverse();
  const wanted = BLAME_LIMITS.clearTries;
  const end = await ask(
    takeLongest(tried, (some) => trials.fit(some, wanted, SHARES.clear) === wanted),
    wanted,
  );
  if (end.kind !== 'finished' || trials.ownTokens === 0) return end;
  const halves = listHalves(plan, trials).flatMap((place) => trials.find(place, 'kept') ?? []);
  return ask(halves, trials.fit(halves, plan.tries, SHARES.clear));
}

/** Tries suspects afresh until they are decided, in as many looks as the test allows for. */
async function confirm(plan: Examined, trials: Trials, ask: Ask): Promise<BatchEnd> {
  const { outset, tallies } = judgeBranches(plan, trials);
  let open = findSuspects(outset, tallies);
  for (const wanted of [2 * plan.tries, BLAME_LIMITS.freshTries]) {
    const chosen = trials.arms.filter(
      ({ says, keep }) => says === 'fresh' && open.some((index) => keep === index || keep === index + 1),
    );
    const end = await ask(chosen, trials.fit(chosen, wanted, SHARES.fresh));
    if (end.kind !== 'finished') return end;
    const { messages } = judgeBranches(plan, trials);
    open = open.filter((index) => messages[index]?.verdict === 'cannot tell');
    if (open.length === 0) break;
  }
  return FINISHED;
}

/** Tries the truth in place of messages, from the last one to the first, as far as it can be afforded. */
function replace(plan: Examined, trials: Trials, ask: Ask): Promise<BatchEnd> {
  const truths = trials.arms.filter(({ says }) => says === 'truth').reverse();
  const isAffordable = (arms: readonly Arm[]) => trials.fit(arms, plan.tries, SHARES.replace) === plan.tries;
  return ask(takeLongest(truths, isAffordable), plan.tries);
}

/**
 * Adds tries at the messages that are still undecided, until they are cleared or nothing more can be afforded. Where a message is named,
 * others are not worth tokens.
 */
async function settle(plan: Examined, trials: Trials, ask: Ask): Promise<BatchEnd> {
  const { messages } = judgeBranches(plan, trials);
  if (trials.ownTokens > 0 && findCulprits(messages).length > 0) return FINISHED;
  const open = new Set(
    messages.flatMap(({ verdict }, index) => (verdict === 'cannot tell' ? [index, index + 1] : [])),
  );
  const chosen = trials.arms
    .filter(
      (arm) => (arm.says === 'kept' || arm.says === 'truth') && trials.count(arm) > 0 && open.has(arm.keep),
    )
    .reverse();
  const wanted = BLAME_LIMITS.clearTries;
  const isAffordable = (arms: readonly Arm[]) => trials.fit(arms, wanted, SHARES.replace) === wanted;
  return ask(takeLongest(chosen, isAffordable), wanted);
}

/** Returns the longest beginning of a list that passes the test. */
function takeLongest<Item>(
  items: readonly Item[],
  passes: (some: readonly Item[]) => boolean,
): readonly Item[] {
  for (let length = items.length; length > 0; length--)
    if (passes(items.slice(0, length))) return items.slice(0, length);
  return [];
}
