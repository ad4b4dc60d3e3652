import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { MeshError } from '../contracts/errors.ts';
import { measureLine } from '../contracts/ledger.ts';
import type { Packet } from '../contracts/packet.ts';
import { Batch } from '../hub/batch.ts';
import type { Link } from '../hub/link.ts';
import { plain } from '../testing/mesh.ts';
import { quietLink } from '../testing/quiet-link.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { encodeFrames } from '../wire/frame.ts';
import { Slab } from '../wire/slab.ts';
import { readReportedWork } from './agent-work.ts';
import { parseRecording, type Recording } from './recording.ts';
import { RunRecord } from './run-record.ts';

const header: Recording['header'] = {
  run_id: 'this-run',
  team: 'pair',
  final: '1',
  routing: 'broadcast',
  adapter: 'plain',
  engine: 'none',
  agents: [
    { id: '0', tool: 'a' },
    { id: '1', tool: 'b' },
  ],
};
const codec = plain.open({
  runId: 'test',
  self: '0',
  peer: 'hub',
  offers: new Map(),
  linkKey: new Uint8Array(32),
  runKey: new Uint8Array(32),
});

function packet(id: string, from: string, payload: Packet['payload'] = {}): Packet {
  return { type: 'said', from, id, task_id: 't', token_used: 0, ts: 0, payload };
}

/** Creates the batch that the hub reports after it has relayed blobs of `sender`. */
function batchOf(sender: Link, blobs: readonly Uint8Array[], arrivedUs = 1): Batch {
  const frames = encodeFrames(blobs);
  const bytes = Buffer.alloc(frames.length);
  bytes.set(frames);
  const slab = new Slab(bytes, () => undefined);
  const batch = new Batch(sender, [], slab, 0, arrivedUs);
  for (const blob of blobs) {
    const head = { type: 'said', from: sender.node.id, id: '', task_id: 't', token_used: 0 };
    batch.add({ head, recipients: [], frameBytes: blob.length + 4 });
  }
  return batch;
}

interface Heard {
  readonly record: RunRecord;
  readonly folder: string;
  readonly agents: readonly Link[];
  say(agent: number, ...packets: readonly Packet[]): void;
  recording(work?: Parameters<RunRecord['write']>[1]['work'], isTimeUp?: () => boolean): Promise<Recording>;
}

async function started(maxBytes?: number): Promise<Heard> {
  const folder = temporaryFolder();
  const record = new RunRecord(path.join(folder, '.frames'), maxBytes);
  const agents = [(await quietLink('0', ['doc_init'])).link, (await quietLink('1')).link];
  const document = { ...packet('d', 'hub'), type: 'doc_init' };
  record.broadcast(document, { beganUs: 0, encodeUs: 0, forwardedUs: 0 }, 10, 2);
  return {
    record,
    folder,
    agents,
    say(agent, ...packets) {
      const sender = agents[agent];
      if (sender === undefined) throw new Error(`no agent ${agent}`);
      record.relayed(
        batchOf(
          sender,
          packets.map((one) => codec.encode(one)),
        ),
      );
    },
    async recording(work = new Map(), isTimeUp) {
      await record.close();
      const file = path.join(folder, 'recording.jsonl');
      await record.write(file, {
        header: () => header,
        payloadOf: () => ({ question: 'Why?' }),
        work,
        isTimeUp,
      });
      return parseRecording(readFileSync(file, 'utf8'), file);
    },
  };
}

describe('the hub’s record of a run', () => {
  test('has every packet that was relayed, whatever its sender reports', async () => {
    const { say, recording } = await started();
    const times = { received_us: 1, sent_us: 9, decode_us: 0, engine_us: 0, encode_us: 0 };
    const work = { cause: 'd', tool_us: 7, work: times };
    say(0, packet('a', '0', { text: 'né ✅ \u2028' }));
    say(1, packet('b', '1'), packet('c', '1'));

    const { header: written, packets } = await recording(new Map([['a', work]]));

    expect(written).not.toHaveProperty('missing');
    expect(packets.map(({ packet: { id }, cause, tool_us }) => [id, cause, tool_us])).toEqual([
      ['d', null, 0],
      ['a', 'd', 7],
      ['b', 'a', null],
      ['c', 'a', null],
    ]);
    expect(packets.map(({ inferred }) => inferred)).toEqual([undefined, undefined, true, true]);
    expect(packets[1]?.packet.payload).toEqual({ text: 'né ✅ \u2028' });
    expect(packets[1]?.relayed?.bytes).toBe(
      4 + codec.encode(packet('a', '0', { text: 'né ✅ \u2028' })).length,
    );
  });

  test('holds frames of every length, across its buffers', async () => {
    const { say, recording } = await started();
    const lengths = [0, 1, 1024 * 1024 - 200, 1024 * 1024, 3 * 1024 * 1024 + 1, 9 * 1024 * 1024, 5, 100_000];
    lengths.forEach((length, index) => {
      say(1, packet(`p${index}`, '1', { text: 'x'.repeat(length) }));
    });
    for (let index = 0; index < 500; index++) say(0, packet(`q${index}`, '0', { text: 'y'.repeat(index) }));

    const { packets, header: written } = await recording();

    const texts = packets.slice(1).map(({ packet: { payload } }) => String(payload.text).length);
    expect(written).not.toHaveProperty('missing');
    expect(texts).toEqual([...lengths, ...Array.from({ length: 500 }, (_, index) => index)]);
  });

  test('says what it has no room for', async () => {
    const { say, recording } = await started(1000);
    for (let index = 0; index < 20; index++) say(0, packet(`p${index}`, '0', { text: 'x'.repeat(100) }));

    const { header: written, packets } = await recording();

    const kept = packets.length - 1;
    expect(kept).toBeGreaterThan(0);
    expect(written.missing).toEqual([`${20 - kept} of 20 packets: the recording has room for 1000 bytes`]);
  });

  test('says what came after its end, and what there was no time for', async () => {
    const { say, record, recording } = await started();
    say(0, packet('a', '0'), packet('b', '0'));
    await record.close();
    say(0, packet('c', '0'));
    const answers = [false];

    const { header: written, packets } = await recording(new Map(), () => answers.shift() ?? true);

    expect(packets).toHaveLength(2);
    expect(written.missing).toEqual(['2 of 3 packets: the time to record them was up']);
    expect((await recording()).header.missing).toEqual(['1 of 3 packets: they came after the run had ended']);
  });

  test('says what the disk did not take', async () => {
    const { say, recording, folder } = await started();
    mkdirSync(path.join(folder, '.frames'));
    say(0, packet('a', '0'));

    expect((await recording()).header.missing).toEqual([expect.stringMatching(/^1 of 1 packets: .*EISDIR/)]);
  });

  test('says which packets cannot be read, and which have an id that came before', async () => {
    const { record, say, recording, agents } = await started();
    const [first] = agents;
    say(0, packet('a', '0'), packet('a', '0'));
    if (first !== undefined) record.relayed(batchOf(first, [Buffer.from('{')]));

    expect((await recording()).header.missing).toEqual([
      '1 of 3 packets had the id of another (the first: a)',
      expect.stringMatching(
        /^1 of 3 packets cannot be decoded \(the first: packet 3 of agent 0 was not recorded: /,
      ),
    ]);
  });

  test('has ledger lines for those who kept no ledger, and for nobody else', async () => {
    const { record, say, agents } = await started();
    const said = packet('a', '0', { text: 'one' });
    say(0, said, packet('b', '0', { text: 'three' }));
    say(1, packet('c', '1'));
    await record.close();
    const [first] = agents;
    if (first === undefined) throw new Error('there are two');

    const lines = await record.linesOf(new Set([first]));

    expect([...lines.keys()]).toEqual([first]);
    const line = lines.get(first)?.get('said');
    const [a, b] = [said, packet('b', '0', { text: 'three' })].map((one) =>
      measureLine(codec, one, codec.encode(one).length),
    );
    expect(line).toMatchObject({ packets: 2, wire: (a?.wire ?? 0) + (b?.wire ?? 0), payload: 14 + 16 });
  });
});

test('what a signer alone can measure is envelope where the hub reads it, and the line sums', async () => {
  const { record, say, agents } = await started();
  const [first] = agents;
  if (first === undefined) throw new Error('there are two');
  const openReader = () => ({
    ...codec,
    headerSize: () => {
      throw new MeshError('packet', 'the hub cannot sign for 0');
    },
  });
  const signer = Object.assign(Object.create(first), { openReader });
  const blob = codec.encode(packet('a', '0', { text: 'one' }));
  record.relayed(batchOf(signer, [blob]));
  say(1, packet('b', '1'));
  await record.close();

  const line = (await record.linesOf(new Set([signer]))).get(signer)?.get('said');

  expect(line).toMatchObject({
    packets: 1,
    wire: 4 + blob.length,
    payload: 14,
    payload_coding: 0,
    layers: 0,
  });
  expect(line?.envelope).toBe(blob.length - 14);
});

describe('what agents report', () => {
  const line = (entry: object) => `${JSON.stringify({ level: 'info', time: 1, ...entry })}\n`;
  const sent = (id: string, toolUs: number, text = '') =>
    line({
      dir: 'sent',
      bytes: 1,
      cause: 'd',
      received_us: 1,
      decode_us: 1,
      tool_us: toolUs,
      engine_us: 0,
      encode_us: 1,
      sent_us: 2,
      id,
      payload: { text },
    });

  test('counts for the run that it was in, not for those that the agent was in before', async () => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, '0'));
    const log = [
      line({ dir: 'session', began: 'former-run', adapter: 'json' }),
      sent('0-1', 1),
      line({ dir: 'session', began: 'this-run', adapter: 'json' }),
      sent('0-1', 2, 'a line \u2028 that is one'),
      sent('0-2', 3, 'x'.repeat(200_000)),
      line({ dir: 'session', began: 'next-run', adapter: 'json' }),
      sent('0-3', 4),
      '{"dir":"sent","id":"0-4"',
    ];
    writeFileSync(path.join(folder, '0', 'agent.log'), log.join(''));

    const work = await readReportedWork(folder, ['0', 'not-there'], 'this-run');

    expect([...work].map(([id, { tool_us }]) => [id, tool_us])).toEqual([
      ['0-1', 2],
      ['0-2', 3],
    ]);
  });
});
