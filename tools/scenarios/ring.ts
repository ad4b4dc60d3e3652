import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { MeshError } from '../../core/contracts/errors.ts';
import { DOC_INIT, type JsonObject } from '../../core/contracts/packet.ts';
import { callType, resultType, type Tool, type ToolContext } from '../../core/contracts/tool.ts';
import { documentOf, finalAnswer, parsed, sentencesOf, sharedCount, wordsOf } from './parts.ts';

const SHARD = 'ring_shard';
/** A shard that has this share of a question's words in one sentence need not ask on. */
const ENOUGH = 0.75;
/** Documents that a shard remembers its part of. */
const MAX_DOCUMENTS = 1000;

const bestSchema = z.object({ sentence: z.string(), share: z.number(), shard: z.string() }).nullable();
const callSchema = z.object({
  query: z.string(),
  ttl: z.int().min(0).max(100),
  path: z.array(z.string()).max(200),
  best: bestSchema,
});
const replySchema = z.object({ best: bestSchema, path: z.array(z.string()) });
const shardOptions = z.looseObject({
  /** Which of the document's parts it has, from 0. */
  part: z.int().min(0),
  parts: z.int().min(1),
  /** Whom it asks on, the nearest first: those that are gone are passed over. */
  next: z.array(z.string()).min(1),
  work_ms: z.number().min(0).max(60_000).default(0),
});

/** Asks the ring of shards each question, beginning at another shard each time (ProtocolBench's fail storm). */
export const ringCoordinator: Tool = {
  name: 'ring_coordinator',
  description: `asks a ring of ${SHARD}s, each of which has a part of the document`,
  accepts: [DOC_INIT],
  emits: ['data_event'],
  async run(packet, context) {
    const { question } = documentOf(packet);
    const ring = context.partners.filter(({ tool }) => tool === SHARD).map(({ id }) => id);
    const digits = Number(/\d+$/.exec(packet.task_id)?.[0] ?? 0);
    const begin = ring.length === 0 ? 0 : digits % ring.length;
    const order = [...ring.slice(begin), ...ring.slice(0, begin)];
    const call = { query: question, ttl: order.length - 1, path: [], best: null };
    const { best, path } = parsed(replySchema, await askFirst(order, call, context), 'the reply of the ring');
    return [finalAnswer(best?.sentence ?? 'not found', { hops: path.length })];
  },
};

/** Has one part of each document, and asks its neighbour where that is not enough. */
export const ringShard: Tool = ringShardTool();

function ringShardTool(): Tool {
  /** The part of each task's document, by task. A shard that was started again has none of those that are under way. */
  const fragments = new Map<string, readonly string[]>();
  return {
    name: SHARD,
    description: 'has a part of the document, and asks the next in the ring for the rest',
    accepts: [DOC_INIT, callType(SHARD)],
    emits: [resultType(SHARD)],
    async run(packet, context) {
      const { part, parts, next, work_ms } = parsed(shardOptions, context.options, `options of ${SHARD}`);
      if (packet.type === DOC_INIT) {
        const all = sentencesOf(documentOf(packet).text);
        const size = Math.ceil(all.length / parts);
        if (fragments.size >= MAX_DOCUMENTS) fragments.clear();
        fragments.set(packet.task_id, all.slice(part * size, (part + 1) * size));
        return [];
      }
      const call = parsed(callSchema, packet.payload, `the question from ${packet.from}`);
      if (work_ms > 0) await sleep(work_ms, undefined, { signal: context.signal });
      const own = bestIn(fragments.get(packet.task_id) ?? [], call.query, `part ${part}`);
      const best = own !== null && own.share > (call.best?.share ?? 0) ? own : call.best;
      const path = [...call.path, `part ${part}`];
      const isDone = call.ttl === 0 || (best?.share ?? 0) >= ENOUGH;
      const reply = isDone
        ? { best, path }
        : await askFirst(next, { query: call.query, ttl: call.ttl - 1, path, best }, context);
      return [{ type: resultType(SHARD), to: packet.from, reply_to: packet.id, payload: reply }];
    },
  };
}

/** The reply of the first of `ids` that is there. */
async function askFirst(ids: readonly string[], call: JsonObject, { ask }: ToolContext): Promise<JsonObject> {
  let lost: MeshError | undefined;
  for (const id of ids) {
    try {
      return await ask(id, call);
    } catch (error) {
      if (!(error instanceof MeshError) || error.code !== 'agent') throw error;
      lost = error;
    }
  }
  throw new MeshError('agent', `none of ${ids.join(', ')} replied`, { cause: lost });
}

function bestIn(sentences: readonly string[], query: string, shard: string): z.infer<typeof bestSchema> {
  const wanted = wordsOf(query);
  let best: z.infer<typeof bestSchema> = null;
  for (const sentence of sentences) {
    const found = sharedCount(wanted, wordsOf(sentence));
    const share = Math.round((1000 * found) / Math.max(1, wanted.size)) / 1000;
    if (share > (best?.share ?? 0)) best = { sentence, share, shard };
  }
  return best;
}
