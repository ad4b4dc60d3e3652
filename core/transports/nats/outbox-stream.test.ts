import { headers } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { Outbox } from '../../agent/outbox/outbox.ts';
import { caused } from '../../testing/caused.ts';
import { OutboxSeal } from './outbox-seal.ts';
import { forgetOutboxes, keepOutboxes, StreamJournal } from './outbox-stream.ts';
import { clientOf } from './testing/linked-ends.ts';
import { needNatsServer, realServer, storeFolder } from './testing/real-server.ts';

needNatsServer();

const ROOT = 'lab.mesh';

/** Sequence of the last message of the outbox of agent 2. */
async function lastOf(url: string): Promise<number> {
  const manager = await (await clientOf(url)).jetStream({ asks: false });
  const message = await manager.streams.getMessage('lab=mesh-outbox', {
    last_by_subj: `${ROOT}.outbox.run.2`,
  });
  return message?.seq ?? 0;
}

/** A server that keeps outboxes, and a journal there as one more process sees it. */
async function keepingServer(config = '') {
  const store = storeFolder();
  const server = await realServer({ store, config });
  await keepOutboxes(await clientOf(server.url), ROOT);
  const journal = async (node = '2', runId = 'run', secret = 'of the run') =>
    StreamJournal.open(await clientOf(server.url), { root: ROOT, runId, node, secret });
  return { store, server, journal };
}

describe('an outbox on a NATS server', () => {
  test('has, opened on another host, what was sent and not taken over, and what was done', async () => {
    const { journal } = await keepingServer();
    const first = await Outbox.open('run', await journal());
    await first.begin(null);
    await first.add([caused('1'), caused('2')], 'doc');
    await first.add([caused('3')]);

    const second = await Outbox.open('run', await journal());
    expect([second.lastDone, second.restarts]).toEqual([['doc'], 1]);
    await second.begin('1');
    expect(second.kept).toMatchObject([caused('2'), caused('3')]);
  });

  test('is that of one agent in one run', async () => {
    const { journal } = await keepingServer();
    await (await journal('2')).append('of 2');

    expect(await (await journal('2~2')).read()).toEqual([]);
    expect(await (await journal('2', 'another run')).read()).toEqual([]);
    expect(await (await journal('2', '*')).read()).toEqual([]);
    expect(await (await journal('2')).read()).toEqual(['of 2']);
  });

  test('is written by the process alone that began last', async () => {
    const { journal } = await keepingServer();
    const first = await Outbox.open('run', await journal());
    await first.begin(null);
    const second = await Outbox.open('run', await journal());
    await second.begin(null);

    await expect(first.add([caused('late')], 'doc')).rejects.toMatchObject({
      code: 'io',
      message: expect.stringMatching(/wrong last sequence/),
    });
    expect(first.hasFailed).toBe(true);
    await second.add([caused('1')], 'doc');
    expect(await (await journal()).read()).toHaveLength(2);
  });

  test('takes lines of any length, and half of one is none', async () => {
    const { server, journal } = await keepingServer('max_payload: 4096');
    const long = 'é'.repeat(100_000);
    const writer = await journal();
    await writer.append('one');
    await writer.append(long);
    expect(await (await journal()).read()).toEqual(['one', long]);

    // As a process leaves it that is killed in the middle.
    const half = headers();
    half.set('Gaia-Part', '1/2');
    half.set('Gaia-After', String(await lastOf(server.url)));
    const place = { after: await lastOf(server.url), part: '1/2' };
    const sealed = new OutboxSeal('of the run', 'run', '2').seal(Buffer.from('half of'), place);
    const stream = await (await clientOf(server.url)).jetStream({ asks: false });
    await stream.jetstream().publish(`${ROOT}.outbox.run.2`, sealed, { headers: half });
    const next = await journal();
    expect(await next.read()).toEqual(['one', long]);
    await next.append('two');
    expect(await (await journal()).read()).toEqual(['one', long, 'two']);
  });

  test('shows nothing of what it keeps to whoever may read the server', async () => {
    const { server, journal } = await keepingServer();
    await (await journal()).append('the answer is 42');

    const manager = await (await clientOf(server.url)).jetStream({ asks: false });
    const message = await manager.streams.getMessage('lab=mesh-outbox', {
      last_by_subj: `${ROOT}.outbox.run.2`,
    });
    expect(Buffer.from(message?.data ?? []).toString('latin1')).not.toContain('42');
    expect(await (await journal('2', 'run', 'another secret')).read()).toEqual([]);
  });

  test('does not take for its own what somebody writes without its secret', async () => {
    const { server, journal } = await keepingServer();
    await (await journal()).append('mine');
    const client = await clientOf(server.url);
    const forged = JSON.stringify({ done: [], sent: [{ cause: 'x', packet: {} }] });
    const guess = await journal('2', 'run', 'a guess');
    await guess.read();
    await guess.append(forged);
    const manager = await client.jetStream({ asks: false });
    const subject = `${ROOT}.outbox.run.2`;
    await manager.jetstream().publish(subject, forged);
    // A message of its own, written once more.
    const first = await manager.streams.getMessage('lab=mesh-outbox', { seq: 1 });
    const again = headers();
    again.set('Gaia-After', first?.header.get('Gaia-After') ?? '');
    await manager.jetstream().publish(subject, first?.data ?? '', { headers: again });

    const next = await journal();
    expect(await next.read()).toEqual(['mine']);
    await next.append('and mine');
    expect(await (await journal()).read()).toEqual(['mine', 'and mine']);
  });

  test('written anew has what is new alone', async () => {
    const { journal } = await keepingServer();
    const writer = await journal();
    await writer.append('old');
    await writer.replace(['new', 'newer']);
    await writer.append('newest');
    expect(await (await journal()).read()).toEqual(['new', 'newer', 'newest']);
  });

  test('outlives the server', async () => {
    const { store, server, journal } = await keepingServer();
    await (await journal()).append('kept');
    await server.stop();

    const again = await realServer({ store });
    const place = { root: ROOT, runId: 'run', node: '2', secret: 'of the run' };
    expect(await (await StreamJournal.open(await clientOf(again.url), place)).read()).toEqual(['kept']);
  });

  test('is forgotten with its run, and those of other runs are not', async () => {
    const { server, journal } = await keepingServer();
    for (const runId of ['run', 'another run']) await (await journal('2', runId)).append('line');
    await forgetOutboxes(await clientOf(server.url), ROOT, 'run');

    expect(await (await journal('2', 'run')).read()).toEqual([]);
    expect(await (await journal('2', 'another run')).read()).toEqual(['line']);
  });

  test('may be in a stream that its owner has set up', async () => {
    const server = await realServer({ store: storeFolder() });
    const client = await clientOf(server.url);
    const manager = await client.jetStream({ asks: true });
    await manager.streams.add({ name: 'lab=mesh-outbox', subjects: [`${ROOT}.outbox.>`], storage: 'memory' });

    await keepOutboxes(client, ROOT);
    await (await StreamJournal.open(client, { root: ROOT, runId: 'run', node: '2', secret: '' })).append(
      'line',
    );
    expect((await manager.streams.info('lab=mesh-outbox')).state.messages).toBe(1);
  });

  test('is refused, with how to start one, by a server without JetStream', async () => {
    const { url } = await realServer();
    const port = new URL(url).port;

    await expect(keepOutboxes(await clientOf(url), ROOT)).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining(`nats-server -js -sd FOLDER -a 127.0.0.1 -p ${port}`),
    });
  });

  test('that nobody has made is said to be missing', async () => {
    const { url } = await realServer({ store: storeFolder() });
    const journal = await StreamJournal.open(await clientOf(url), {
      root: ROOT,
      runId: 'run',
      node: '2',
      secret: '',
    });

    await expect(Outbox.open('run', journal)).rejects.toThrow(/there is no stream lab=mesh-outbox/);
  });
});
