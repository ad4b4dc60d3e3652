import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { QUEUE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { resolveOutFolder, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import {
  defineTable,
  flag,
  option,
  output,
  seconds,
  storeAddress,
  wholeNumber,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { AttemptQueue } from '@gaia-mesh/evaluation/queue/attempt-queue.ts';
import { Worker } from '@gaia-mesh/evaluation/queue/worker.ts';
import { createStyles, print, printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { createAlarms } from '@gaia-mesh/evaluation/terminal/progress.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { EXIT } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { loadKeys } from '../command-line/load-keys.ts';
import { defineOptions } from '../command-line/options.ts';

const workerTable = defineTable({
  options: z.object({
    store: option('<url>', 'read questions from the queue in this Postgres database', storeAddress),
    slots: option(
      '<n>',
      'answer this many questions at once',
      wholeNumber
        .refine((slots) => slots <= QUEUE_LIMITS.slots, `expected at most ${QUEUE_LIMITS.slots}.`)
        .default(1),
    ),
    idle: option('<seconds>', 'stop after this time without a question', seconds.optional()),
    out: option(
      '<dir>',
      'write logs and files of the teams here (default: runs/worker)',
      output.folder.optional(),
    ),
    trustBatches: flag('allow batches that name commands and files of this machine'),
  }),
});

export function defineWorker(command: Command): void {
  defineOptions(command, workerTable, run);
}

/** Answers questions of queued batches until a signal ends it. */
async function run({
  store,
  slots,
  idle,
  out,
  trustBatches,
}: z.output<typeof workerTable.options>): Promise<void> {
  loadKeys();
  const say = printError;
  const queue = await AttemptQueue.open(store, { warn: say });
  const stopping = handleInterrupt('this worker when its questions are answered', () => {
    say('giving its questions back');
    aborting.abort(new MeshError('interrupted', 'interrupted'));
  });
  const aborting = new AbortController();
  const folder = out === undefined ? path.join(resolveOutFolder(), 'runs', 'worker') : resolveUserPath(out);
  try {
    const worker = new Worker(queue, {
      slots,
      store,
      out: path.join(folder, String(process.pid)),
      trusts: trustBatches,
      idleMs: idle === undefined ? undefined : idle * 1000,
      observer: createAlarms({ say, styles: createStyles(process.stderr) }),
      say,
      stopping: stopping.signal,
      aborting: aborting.signal,
    });
    say(`Worker ${worker.id} takes questions from ${queue.location}, ${slots} at once. Ctrl-C ends it.`);
    const done = await worker.run();
    print(`Answered ${done} ${done === 1 ? 'question' : 'questions'}.`);
    if (aborting.signal.aborted) process.exitCode = EXIT.interrupted;
  } finally {
    await queue.close();
  }
}
