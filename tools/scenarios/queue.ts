import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { MeshError } from '../../core/contracts/errors.ts';
import { DOC_INIT } from '../../core/contracts/packet.ts';
import { callType, resultType, type Tool } from '../../core/contracts/tool.ts';
import { documentOf, finalAnswer, parsed, sentencesOf, wordsOf } from './parts.ts';

const WORKER = 'queue_worker';
const itemSchema = z.object({ number: z.int(), query: z.string() });
const workSchema = z.looseObject({ work_ms: z.number().min(0).max(60_000).default(0) });

/** Hands out a document's sentences as questions, one at a time to each worker, until none is left (ProtocolBench's streaming queue). */
export const queueCoordinator: Tool = {
  name: 'queue_coordinator',
  description: `hands out a document's sentences to its ${WORKER}s, one at a time to each`,
  accepts: [DOC_INIT],
  emits: ['data_event'],
  async run(packet, { partners, ask, record }) {
    const items = sentencesOf(documentOf(packet).text);
    const workers = partners.filter(({ tool }) => tool === WORKER);
    if (workers.length === 0)
      throw new MeshError('config', `queue_coordinator may call no ${WORKER} (may_call of the team file)`);
    const done = new Map(workers.map(({ id }) => [id, 0]));
    let next = 0;
    await Promise.all(
      workers.map(async ({ id }) => {
        for (;;) {
          const number = next;
          next += 1;
          const query = items[number];
          if (query === undefined) return;
          await ask(id, { number, query });
          done.set(id, (done.get(id) ?? 0) + 1);
        }
      }),
    );
    const load = Object.fromEntries(done);
    record('queue.log', { task_id: packet.task_id, load });
    return [finalAnswer(`${items.length} questions answered`)];
  },
};

/** Answers a question of the queue from its own words. */
export const queueWorker: Tool = {
  name: WORKER,
  description: 'answers a question of a queue with its longest words',
  accepts: [callType(WORKER)],
  emits: [resultType(WORKER)],
  async run(packet, { options, signal }) {
    const { number, query } = parsed(itemSchema, packet.payload, `the item from ${packet.from}`);
    const { work_ms } = parsed(workSchema, options, 'options of queue_worker');
    if (work_ms > 0) await sleep(work_ms, undefined, { signal });
    const words = [...wordsOf(query)].toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1));
    const payload = { number, answer: words.slice(0, 8).join(' '), considered: words.length };
    return [{ type: resultType(WORKER), to: packet.from, reply_to: packet.id, payload }];
  },
};
