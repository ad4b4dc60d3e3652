import type { Random } from '@gaia-mesh/core/system/random.ts';
import type { Part, Said, Task } from './part.ts';

const TASKS = 6;
const JOBS = 3;
const STATES = ['queued', 'running', 'waiting for input', 'blocked', 'retrying'] as const;
const KINDS = ['resize-image', 'send-mail', 'check-link', 'translate-title', 'reindex'] as const;

/**
 * Traffic of a queue of small jobs: submitted, acknowledged, reported on, done. About 200 bytes per packet.
 */
export const chatty: Part = {
  name: 'chatty',
  about: 'small jobs that are acknowledged, reported on and done: about 200 bytes a packet',
  tasks: (random) => Array.from({ length: TASKS }, (_, index) => drawTask(random, index)),
};

function drawTask(random: Random, index: number): Task {
  const said: Said[] = [];
  const say = (packet: Said) => said.push(packet) - 1;
  const pick = <T>(items: readonly [T, ...T[]]) => items[random.integer(items.length)] ?? items[0];
  let cause = -1;
  for (let job = 0; job < JOBS; job++) {
    const worker = job % 2 === 0 ? 'worker-1' : 'worker-2';
    const jobId = `${index + 1}${job + 1}-${random.bits().toString(16)}`;
    const submitted = say({
      type: 'job.submit',
      from: 'coordinator',
      to: worker,
      cause,
      payload: {
        job: jobId,
        kind: pick(KINDS),
        priority: random.integer(10),
        attempt: 1,
        input: { ref: `s3://inbox/${random.bits().toString(36)}.bin`, bytes: random.integer(900_000) },
      },
    });
    say({
      type: 'job.accepted',
      from: worker,
      to: 'coordinator',
      cause: submitted,
      isReply: true,
      payload: { job: jobId, state: 'queued', position: random.integer(40), eta_ms: random.integer(9000) },
    });
    say({
      type: 'job.progress',
      from: worker,
      to: 'coordinator',
      cause: submitted,
      payload: {
        job: jobId,
        state: pick(STATES),
        done: Math.round(random.uniform() * 1000) / 1000,
        note: `step ${1 + random.integer(9)} of ${9 + random.integer(9)}: ${random.integer(500)} items looked at, none refused so far`,
      },
    });
    const done = say({
      type: 'job.done',
      from: worker,
      to: 'coordinator',
      cause: submitted,
      payload: {
        job: jobId,
        state: 'done',
        took_ms: random.integer(20_000),
        warnings: [],
        output: { ref: `s3://outbox/${random.bits().toString(36)}.bin`, bytes: random.integer(900_000) },
      },
    });
    const checked = say({
      type: 'job.check',
      from: 'coordinator',
      to: 'reviewer',
      cause: done,
      payload: { job: jobId, by: worker, sample: random.uniform() < 0.3 },
    });
    cause = say({
      type: 'job.verdict',
      from: 'reviewer',
      to: 'coordinator',
      cause: checked,
      isReply: true,
      payload: { job: jobId, ok: true, confidence: Math.round(random.uniform() * 100) / 100, remarks: null },
    });
  }
  // The result is broadcast to all.
  say({
    type: 'queue.empty',
    from: 'coordinator',
    cause,
    payload: { jobs: JOBS, failed: 0, closed: `2026-01-0${index + 1}T08:00:00Z` },
  });
  return { opening: { queue: `inbox-${index + 1}`, jobs: JOBS, deadline: '2026-01-31T00:00:00Z' }, said };
}
