import { EventEmitter } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import net from 'node:net';
import { CONNECTION_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Admission, listenInPrivate, listenOnPlace } from './listen.ts';

class FakeConnection extends EventEmitter {
  isOpen = true;
  destroy() {
    this.isOpen = false;
    this.emit('close');
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

function enter(admission: Admission, count: number): FakeConnection[] {
  return Array.from({ length: count }, () => {
    const connection = new FakeConnection();
    admission.enter(connection);
    return connection;
  });
}

const open = (connections: readonly FakeConnection[]) => connections.map(({ isOpen }) => isOpen);
const exchange = (isWhole = true) => ({ isWhole: () => isWhole, answer: new EventEmitter() });

describe('strangers', () => {
  it('keep their places until the time is over, whatever they send, and no longer', () => {
    const [stranger] = enter(new Admission(), 1);
    vi.advanceTimersByTime(CONNECTION_LIMITS.patienceMs - 1);
    stranger?.emit('data');
    expect(stranger?.isOpen).toBe(true);
    vi.advanceTimersByTime(200);
    expect(stranger?.isOpen).toBe(false);
  });

  it('make room for the next, the oldest first, once they had time for a first word', () => {
    const strangers = enter(new Admission(), CONNECTION_LIMITS.maxStrangers + 3);
    vi.advanceTimersByTime(50);
    expect(open(strangers).every(Boolean)).toBe(true);
    vi.advanceTimersByTime(100);
    expect(open(strangers)).toEqual([
      false,
      false,
      false,
      ...Array(CONNECTION_LIMITS.maxStrangers).fill(true),
    ]);
  });

  it('make room at once in a burst that is larger than any of clients', () => {
    const strangers = enter(new Admission({ maxInBurst: 10 }), 12);
    expect(open(strangers)).toEqual([false, false, ...Array(10).fill(true)]);
  });

  it('take no place of the known ones', () => {
    const admission = new Admission({ maxStrangers: 2 });
    const [client] = enter(admission, 1);
    admission.admit(client ?? new FakeConnection(), exchange());
    enter(admission, 100);
    vi.advanceTimersByTime(2 * CONNECTION_LIMITS.patienceMs);
    expect(client?.isOpen).toBe(true);
  });
});

describe('known connections', () => {
  it(`are at most ${CONNECTION_LIMITS.maxKnown}: one that is quiet makes room, the one that was longest`, () => {
    const admission = new Admission();
    const clients = enter(admission, CONNECTION_LIMITS.maxKnown + 1);
    const exchanges = clients.map((client, i) => {
      const own = exchange();
      if (i < CONNECTION_LIMITS.maxKnown) admission.admit(client, own);
      return own;
    });
    exchanges[2]?.answer.emit('close');
    exchanges[1]?.answer.emit('close');
    expect(admission.admit(clients.at(-1) ?? new FakeConnection(), exchange())).toBe(true);
    expect(clients.filter(({ isOpen }) => !isOpen)).toEqual([clients[2]]);
  });

  it('are none the less admitted again themselves when all places are taken', () => {
    const admission = new Admission({ maxKnown: 1 });
    const [one, other] = enter(admission, 2);
    expect(admission.admit(one ?? new FakeConnection(), exchange())).toBe(true);
    expect(admission.admit(other ?? new FakeConnection(), exchange())).toBe(false);
    expect(admission.admit(one ?? new FakeConnection(), exchange())).toBe(true);
  });

  it('that wait for no answer, since their request does not end, make room', () => {
    const admission = new Admission({ maxKnown: 1 });
    const [slow, other] = enter(admission, 2);
    admission.admit(slow ?? new FakeConnection(), exchange(false));
    expect(admission.admit(other ?? new FakeConnection(), exchange())).toBe(true);
    expect(slow?.isOpen).toBe(false);
  });

  it('that send a request for too long are closed where there is no room for others', () => {
    const admission = new Admission({ patienceMs: 1000 });
    const [idle, answered, slow] = enter(admission, 3) as [FakeConnection, FakeConnection, FakeConnection];
    const over = exchange();
    admission.admit(idle, over);
    over.answer.emit('close');
    admission.admit(answered, exchange());
    admission.admit(slow, exchange(false));
    admission.dropUnfinished();
    expect(open([slow])).toEqual([true]);
    vi.advanceTimersByTime(1000);
    const [fresh] = enter(admission, 1) as [FakeConnection];
    admission.admit(fresh, exchange(false));
    admission.dropUnfinished();
    expect(open([idle, answered, slow, fresh])).toEqual([true, true, false, true]);
  });

  it('are forgotten when they close', () => {
    const admission = new Admission({ maxKnown: 1 });
    const [one, other] = enter(admission, 2);
    admission.admit(one ?? new FakeConnection(), exchange());
    one?.destroy();
    expect(admission.admit(other ?? new FakeConnection(), exchange())).toBe(true);
  });
});

it('a private socket leaves no folder, neither when it is removed nor when the server cannot listen', async () => {
  const folder = temporaryFolder();
  vi.stubEnv('TMPDIR', folder);
  try {
    const server = net.createServer();
    const { file, remove } = await listenInPrivate(server);
    expect(existsSync(file)).toBe(true);
    await expect(listenInPrivate(server)).rejects.toThrow();
    expect(readdirSync(folder)).toHaveLength(1);
    server.close();
    remove();
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
  }
});

it('listens on the loopback unless another address is named', async () => {
  vi.useRealTimers();
  const server = net.createServer();
  const port = await listenOnPlace(server, { port: 0 });
  expect(server.address()).toMatchObject({ address: '127.0.0.1', port });
  server.close();
});
