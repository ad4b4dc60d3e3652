import net from 'node:net';
import path from 'node:path';
import { readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, runCli, temporaryFolder } from '../../testing/cli.ts';

/** A program that knows nothing of the mesh but frames: it listens, and keeps every byte that comes. */
class Foreigner {
  readonly port: number;
  received = Buffer.alloc(0);
  #socket: net.Socket | undefined;

  private constructor(server: net.Server, port: number) {
    this.port = port;
    server.on('connection', (socket) => {
      this.#socket = socket;
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        this.received = Buffer.concat([this.received, chunk]);
      });
    });
    onTestFinished(() => {
      this.#socket?.destroy();
      server.close();
    });
  }

  static async listen(): Promise<Foreigner> {
    const server = net.createServer();
    return new Foreigner(server, await listenOnPlace(server, { port: 0 }));
  }

  write(bytes: Uint8Array): void {
    this.#socket?.write(bytes);
  }

  hangUp(): void {
    this.#socket?.end();
  }

  async has(bytes: number): Promise<Buffer> {
    for (let attempt = 0; attempt < 400 && this.received.length < bytes; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return this.received;
  }
}

function frame(packet: object): Buffer {
  return framed(Buffer.from(JSON.stringify(packet)));
}

function framed(blob: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(blob.length);
  return Buffer.concat([length, blob]);
}

const packet = (from: string, number: number, rest: object = {}) => ({
  type: 'note',
  from,
  id: `${from}-${number}`,
  task_id: 't',
  token_used: 2,
  ts: 0,
  payload: { text: 'é'.repeat(number % 50) },
  ...rest,
});

async function hubBetween(agents: readonly Foreigner[], options: readonly string[] = []): Promise<Cli> {
  const ports = agents.map(({ port }) => port).join(',');
  const hub = new Cli(['hub', '--ports', ports, '--handshake', 'off', ...options]);
  await expect.poll(() => hub.stdout, { timeout: 60_000 }).toContain('ready');
  return hub;
}

describe('the hub alone, between programs of others', () => {
  test('shows what they say as escapes, where it would drive the terminal', async () => {
    const refusal = JSON.stringify({ kind: 'refuse', message: 'no\u001b[2J\u001b]0;mine\u0007\u202e' });
    const [a, b] = [await Foreigner.listen(), await Foreigner.listen()];
    const hub = new Cli(['hub', '--ports', `${a.port},${b.port}`]);
    // Both, since the hub waits for one that says nothing.
    for (const each of [a, b]) {
      await each.has(1);
      each.write(framed(Buffer.from(refusal)));
    }

    const { code, stderr } = await hub.ended();

    expect(code).toBe(1);
    expect(stderr).toContain('refused: no\\u001b[2J\\u001b]0;mine\\u0007\\u202e');
    expect(stderr.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  test('records what they say, in order and whole, and the recording plays again', async () => {
    const [a, b] = [await Foreigner.listen(), await Foreigner.listen()];
    const file = path.join(temporaryFolder(), 'recording.jsonl');
    const hub = await hubBetween([a, b], ['--record', file]);
    const question = packet('a', 1, { task_id: 'u' });
    const answer = packet('b', 1, { task_id: 'u', reply_to: 'a-1' });
    a.write(frame(question));
    await b.has(frame(question).length);
    b.write(frame(answer));
    await a.has(frame(answer).length);
    hub.signal('SIGTERM');
    expect((await hub.ended()).stderr).toContain(`recorded 2 packets in ${file}`);

    const { header, packets } = await readRecording(file);

    expect(header.agents.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(header).not.toHaveProperty('missing');
    expect(packets.map(({ cause, packet: { id } }) => [id, cause])).toEqual([
      ['hub-1', null],
      ['a-1', 'hub-1'],
      ['b-1', 'a-1'],
    ]);
    expect(packets.slice(1).map((entry) => entry.packet)).toEqual([question, answer]);
    const { code, stderr } = await runCli([
      ...['compare', '--recording', file, '--adapters', 'cbor', '--json'],
      ...['--invocations', '1', '--rounds', '1', '--out', temporaryFolder()],
    ]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('Agents began 1 of its tasks by themselves');
  });

  test('relays byte for byte, in order, and says at the end what it carried', async () => {
    const [a, b, c] = [await Foreigner.listen(), await Foreigner.listen(), await Foreigner.listen()];
    const hub = await hubBetween([a, b, c]);
    const fromA = Buffer.concat(Array.from({ length: 500 }, (_, i) => frame(packet('a', i))));
    const fromB = Buffer.concat(Array.from({ length: 300 }, (_, i) => frame(packet('b', i))));
    // In pieces that end anywhere: frames are torn and put together again.
    for (let at = 0; at < fromA.length; at += 977) a.write(fromA.subarray(at, at + 977));
    b.write(fromB);
    expect((await b.has(fromA.length)).equals(fromA)).toBe(true);
    expect((await a.has(fromB.length)).equals(fromB)).toBe(true);
    expect((await c.has(fromA.length + fromB.length)).length).toBe(fromA.length + fromB.length);

    process.kill(hub.pid, 'SIGTERM');
    const { code, stdout } = await hub.ended();
    expect(code).toBe(0);
    const [ready, last, ...rest] = stdout.trim().split('\n');
    expect(ready).toBe('ready: 3 agents, json, broadcast');
    expect(rest).toEqual([]);
    const bytes = fromA.length + fromB.length;
    expect(JSON.parse(last ?? '')).toMatchObject({
      packets: 800,
      tokens: 1600,
      bytes_rx: bytes,
      bytes_tx: 2 * bytes,
      deliveries: 1600,
      refused_packets: 0,
    });
  });

  test('says it, too, when npm alone is told to end, as by whoever started it', async () => {
    const agents = [await Foreigner.listen(), await Foreigner.listen()];
    const ports = agents.map(({ port }) => port).join(',');
    const npm = new Cli(['run', '--silent', 'hub', '--', '--ports', ports, '--handshake', 'off'], {
      program: 'npm',
      cwd: codeFolder,
    });
    await expect.poll(() => npm.stdout, { timeout: 60_000 }).toContain('ready');

    npm.signal('SIGTERM');
    const { code, stdout } = await npm.ended();
    expect(code).toBe(0);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      packets: 0,
      refused_packets: 0,
    });
  });

  test('passes on tags that end tasks elsewhere, and drops what is no packet', async () => {
    const [a, b] = [await Foreigner.listen(), await Foreigner.listen()];
    const hub = await hubBetween([a, b]);
    const final = frame(packet('a', 1, { tag: 'final_answer' }));
    a.write(Buffer.concat([frame({ hello: 'there' }), final]));
    expect((await b.has(final.length)).equals(final)).toBe(true);
    process.kill(hub.pid, 'SIGTERM');
    const { stdout, stderr } = await hub.ended();
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      packets: 1,
      refused_packets: 1,
    });
    expect(stderr).toContain(`refused from port-${a.port}`);
  });

  test('keeps its books until it is told to end, when all agents have gone, too', async () => {
    const [a, b] = [await Foreigner.listen(), await Foreigner.listen()];
    const hub = await hubBetween([a, b]);
    const sent = frame(packet('a', 1));
    a.write(sent);
    await b.has(sent.length);
    a.hangUp();
    b.hangUp();
    await expect.poll(() => hub.stderr.match(/is gone/g)?.length).toBe(2);
    process.kill(hub.pid, 'SIGTERM');
    const { code, stdout } = await hub.ended();
    expect(code).toBe(0);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ packets: 1, deliveries: 1 });
  });

  test('waits for agents that are not up yet, and says who did not come', async () => {
    const a = await Foreigner.listen();
    const run = await runCli(['hub', '--ports', `${a.port},1`, '--handshake', 'off', '--wait', '0.3']);
    expect(run).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('127.0.0.1:1: no agent listens there'),
    });
  });

  test('greets agents that are there, whoever they are, and knows two that say they are one', async () => {
    const agent = (id: string) => new Cli(['agent', '--id', id, '--tool', 'reason', '--port', '0']);
    const agents = [agent('x'), agent('y'), agent('x')];
    const ports: string[] = [];
    for (const one of agents) {
      await expect.poll(() => one.stderr, { timeout: 60_000 }).toMatch(/127\.0\.0\.1:\d+/);
      ports.push(/127\.0\.0\.1:(\d+)/.exec(one.stderr)?.[1] ?? '');
    }
    const [x = '', y = '', other = ''] = ports;
    const hub = new Cli(['hub', '--ports', `${x},${y}`]);
    await expect.poll(() => hub.stdout, { timeout: 60_000 }).toContain('ready: 2 agents');
    process.kill(hub.pid, 'SIGTERM');
    const { stdout } = await hub.ended();
    const { agents: known, session_bytes } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(known.map(({ id }: { id: string }) => id)).toEqual(['x', 'y']);
    expect(session_bytes).toBeGreaterThan(500);
    const twice = await runCli(['hub', '--ports', `${x},${other}`]);
    expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining('both claim to be x') });
    // With an exchange of keys, too, which would else wait for a third name.
    const keyed = await runCli(['hub', '--ports', `${x},${other}`, '--adapter', 'json+ed25519']);
    expect(keyed).toMatchObject({ code: 1, stderr: expect.stringContaining('both claim to be x') });
  });

  test('takes no agent for the hub', async () => {
    const posing = new Cli(['agent', '--id', 'hub', '--tool', 'reason', '--port', '0']);
    await expect.poll(() => posing.stderr, { timeout: 60_000 }).toMatch(/127\.0\.0\.1:\d+/);
    const port = /127\.0\.0\.1:(\d+)/.exec(posing.stderr)?.[1];
    const other = await Foreigner.listen();
    const named = new Cli(['hub', '--ports', `${port},${other.port}`]);
    // The hub waits for one that says nothing.
    await other.has(1);
    other.write(framed(Buffer.from(JSON.stringify({ kind: 'refuse', message: 'no' }))));
    expect(await named.ended()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('claims to be the hub'),
    });
  });

  test('refuses what it cannot do', async () => {
    const keyed = await callCli(['hub', '--ports', '1,2', '--handshake', 'off', '--adapter', 'json+ed25519']);
    expect(keyed).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('exchanges keys in the handshake'),
    });
    const one = await callCli(['hub', '--ports', '9000']);
    expect(one).toMatchObject({ code: 2, stderr: expect.stringContaining('at least two') });
    const same = await callCli(['hub', '--ports', '9000,9001,9000']);
    expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining('expected each of them once') });
  });
});
