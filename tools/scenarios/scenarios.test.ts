import { describe, expect, test } from 'vitest';
import type { JsonObject, Packet } from '../../core/contracts/packet.ts';
import type { Tool, ToolContext } from '../../core/contracts/tool.ts';
import { extractiveEngine } from '../engines/extractive.ts';
import { clinicDoctor, clinicIntruder, withoutPrivate } from './clinic.ts';
import { consensusPeer, consensusWatch } from './consensus.ts';
import { queueCoordinator, queueWorker } from './queue.ts';
import { ringCoordinator, ringShard } from './ring.ts';

/** A context in which nobody is there to ask, unless `asked` answers. */
function contextOf(
  options: JsonObject,
  asked?: (partner: string) => JsonObject,
  partners: ToolContext['partners'] = [],
): ToolContext {
  return {
    ...{ engine: extractiveEngine(), workspace: '.', files: undefined, store: undefined, options, partners },
    ...{
      prompt: () => '',
      signal: new AbortController().signal,
      countTokens: () => undefined,
      record: () => undefined,
    },
    ask: async (partner) => asked?.(partner) ?? {},
  };
}

const packet = (type: string, payload: JsonObject, from = 'x'): Packet => ({
  ...{ type, from, id: `${from}-1`, task_id: 't-3', token_used: 0, ts: 0, payload },
});
const document = (text: string) =>
  packet('doc_init', { question: 'Where is the granite tower?', chunks: [text] }, 'hub');
const run = (tool: Tool, given: Packet, context: ToolContext) => tool.run(given, context);

describe('consensus', () => {
  const options = (agent: number) => contextOf({ agent, agents: 3, values: 3 });
  const finding = (agent: number, round: number, value: number) =>
    packet('finding', { agent, round, value, confidence: 0.1 }, `peer-${agent}`);

  test('a peer goes on when it has heard all others of its round, in whatever order they come', async () => {
    const opened = await run(consensusPeer, document('x'), options(0));
    expect(opened).toMatchObject([{ type: 'finding', payload: { round: 1, value: 0 } }]);
    // One that is ahead is heard, and waits.
    expect(await run(consensusPeer, finding(1, 2, 1), options(0))).toEqual([]);
    expect(await run(consensusPeer, finding(1, 1, 1), options(0))).toEqual([]);
    expect(await run(consensusPeer, finding(2, 1, 1), options(0))).toMatchObject([
      { payload: { round: 2, value: 1 } },
    ]);
    expect(await run(consensusPeer, finding(2, 2, 1), options(0))).toMatchObject([{ payload: { round: 3 } }]);
  });

  test('what is watched ends when every peer has made up its mind', async () => {
    const context = contextOf({ agents: 2 });
    const snapshot = (agent: number) => packet('snapshot', { agent, value: 1, round: 5 });
    expect(await run(consensusWatch, snapshot(0), context)).toEqual([]);
    expect(await run(consensusWatch, snapshot(0), context)).toEqual([]);
    expect(await run(consensusWatch, snapshot(1), context)).toMatchObject([{ payload: { answer: '1' } }]);
  });
});

describe('the clinic', () => {
  test('keeps names, numbers and addresses to itself', () => {
    expect(withoutPrivate('Mrs Orla Feenan of 14 Harbour Street, 078-05-1120 or 555-0142, has a cold.')).toBe(
      '[name] of [address], [number] or [phone], has a cold.',
    );
  });

  test('has an intruder who tries three things, and a doctor who asks back', async () => {
    const tried = await run(clinicIntruder, document('x'), contextOf({ target: 'doctor' }));
    expect(tried.map(({ type, to, tag }) => [type, to, tag])).toEqual([
      ['clinic_doctor.call', 'doctor', undefined],
      ['data_event', undefined, 'final_answer'],
      ['probe', undefined, undefined],
    ]);
    const [advice] = await run(
      clinicDoctor,
      packet('clinic_doctor.call', { round: 2, complaint: 'a swollen ankle' }),
      contextOf({}),
    );
    expect(advice?.payload).toMatchObject({
      asks: expect.stringContaining('swollen'),
      advice: expect.stringContaining('2 days'),
    });
  });
});

describe('a ring', () => {
  const options = { part: 0, parts: 2, next: ['shard-1', 'shard-2'] };
  const call = { query: 'Where is the granite tower?', ttl: 1, path: [], best: null };

  test('answers from its own part where that is enough, and asks on where it is not', async () => {
    await run(
      ringShard,
      document('The granite tower is where the rock is. The rest is silence.'),
      contextOf(options),
    );
    const [own] = await run(ringShard, packet('ring_shard.call', call), contextOf(options));
    expect(own?.payload).toMatchObject({ best: { shard: 'part 0' }, path: ['part 0'] });

    const further = { best: null, path: ['part 0', 'part 1'] };
    const elsewhere = { ...call, query: 'Who wrote about barley?' };
    const [asked] = await run(
      ringShard,
      packet('ring_shard.call', elsewhere),
      contextOf(options, () => further),
    );
    expect(asked?.payload).toEqual(further);
  });

  test('is asked at another shard for each task', async () => {
    const asked: string[] = [];
    const partners = ['a', 'b', 'c'].map((id) => ({ id, tool: 'ring_shard' }));
    const reply = (partner: string) => {
      asked.push(partner);
      return { best: { sentence: 'Here.', share: 1, shard: partner }, path: [] };
    };
    const [answer] = await run(ringCoordinator, document('x'), contextOf({}, reply, partners));
    expect(answer?.payload).toMatchObject({ answer: 'Here.' });
    expect(asked).toEqual(['a']);
  });
});

test('a queue gives each worker the next question when it has answered the last', async () => {
  const asked: string[] = [];
  const partners = ['a', 'b'].map((id) => ({ id, tool: 'queue_worker' }));
  const context = contextOf({}, (partner) => ({ of: asked.push(partner) }), partners);
  const [answer] = await run(queueCoordinator, document('One here. Two here. Three here.'), context);
  expect(answer?.payload).toMatchObject({ answer: '3 questions answered' });
  expect(asked).toHaveLength(3);
  await expect(run(queueCoordinator, document('One.'), contextOf({}))).rejects.toThrow(
    'may call no queue_worker',
  );

  const [work] = await run(
    queueWorker,
    packet('queue_worker.call', { number: 4, query: 'Which tower is tallest?' }),
    contextOf({}),
  );
  expect(work?.payload).toMatchObject({ number: 4, answer: 'tallest tower which' });
});
