import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ChildTransport } from './child-transport.ts';

const PINGS_WITHOUT_END = `
  const ping = (id) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }) + '\\n';
  const lines = Array.from({ length: 1000 }, (_, id) => ping(id)).join('');
  const write = () => { while (process.stdout.write(lines)); };
  process.stdout.on('drain', write);
  write();
`;

test('a server that pings without end and reads no answer is read no further than a bound', async () => {
  const transport = new ChildTransport({
    command: process.execPath,
    args: ['-e', PINGS_WITHOUT_END],
    environment: { PATH: process.env.PATH ?? '' },
    folder: import.meta.dirname,
    maxMessageBytes: 1000,
  });
  onTestFinished(() => transport.close());
  let pings = 0;
  transport.onmessage = (message) => {
    pings += 1;
    // At the end of the test the server is gone.
    transport.send({ ...message, method: undefined, result: {} } as never).catch(() => undefined);
  };
  await transport.start();
  await vi.waitFor(() => expect(transport.unreadBytes).toBeGreaterThan(1024 * 1024), 20_000);
  const read = pings;
  for (let turn = 0; turn < 200; turn++) await setImmediate();
  expect(pings).toBe(read);
  expect(transport.unreadBytes).toBeLessThan(1024 * 1024 + 1000);
});

/** Starts a shell script as a server, and collects what the transport reports. */
async function startScript(script: string, maxMessageBytes = 1000) {
  const transport = new ChildTransport({
    command: '/bin/sh',
    args: ['-c', script],
    environment: { PATH: process.env.PATH ?? '', GIVEN: 'yes' },
    folder: import.meta.dirname,
    maxMessageBytes,
  });
  const messages: unknown[] = [];
  const errors: string[] = [];
  transport.onmessage = (message) => messages.push(message);
  transport.onerror = (error) => errors.push(error.message);
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  onTestFinished(() => transport.close());
  return { transport, messages, errors, closed };
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('a server in a child process', () => {
  test('gets the named variables only, in the named folder', async () => {
    vi.stubEnv('GAIA_MESH_SECRET', 'ours');
    vi.stubEnv('NODE_OPTIONS', '--no-warnings');
    const { messages, closed } = await startScript(
      `printf '{"given":"%s","secret":"%s","options":"%s","folder":"%s"}\n' "$GIVEN" "$GAIA_MESH_SECRET" "$NODE_OPTIONS" "$PWD"`,
    );
    await closed;
    vi.unstubAllEnvs();
    expect(messages).toEqual([{ given: 'yes', secret: '', options: '', folder: import.meta.dirname }]);
  });

  test('reads messages line by line and replies', async () => {
    const { transport, messages, closed } = await startScript(
      `read -r line; printf '%s\n\n  \n' "$line"; read -r line; printf '%s\n' "$line"`,
    );
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} });
    await transport.send({ jsonrpc: '2.0', id: 2, result: {} });
    await closed;
    expect(messages).toMatchObject([{ jsonrpc: '2.0', id: 1 }, { id: 2 }]);
    await expect(transport.send({ jsonrpc: '2.0', id: 3, result: {} })).rejects.toMatchObject({
      code: 'agent',
      message: 'MCP: the server is gone',
    });
  });

  test('that reads late makes senders wait until it has read, or is gone', async () => {
    const large = { jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(500_000) } } as const;
    const late = await startScript(`read -r go; cat >/dev/null`);
    let sent = 0;
    const sending = [1, 2].map(async () => {
      await late.transport.send(large);
      sent += 1;
    });
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    expect(sent).toBe(0);
    await Promise.all(sending);
    expect(late.transport.unreadBytes).toBe(0);

    const gone = await startScript(`printf '{"up":1}\n'; sleep 0.2`);
    await gone.transport.send(large);
    await gone.closed;
    expect(gone.errors).not.toEqual([]);
  });

  test('that prints other text is read on, and the text is kept for the reason', async () => {
    const { transport, messages, closed } = await startScript(
      `echo 'Welcome to the server'; echo 7; echo '{"a":1}'; echo 'no licence' >&2`,
    );
    await closed;
    expect(messages).toEqual([{ a: 1 }]);
    expect(transport.lastWords).toContain('Welcome to the server\n');
    expect(transport.lastWords).toContain('no licence\n');
  });

  test('that prints messages and empty lines has said nothing else', async () => {
    const { transport, messages, errors, closed } = await startScript(`printf '\\n  \\n{"a":1}\\n{"b":2}'`);
    await closed;
    expect([messages, errors, transport.lastWords]).toEqual([[{ a: 1 }], [], '']);
  });

  test('that prints one long text without an end is kept by its first words, within the bound', async () => {
    const { transport, closed } = await startScript(
      `head -c 2500 /dev/zero | tr '\\0' a; head -c 500 /dev/zero | tr '\\0' b; echo`,
      10_000,
    );
    await closed;
    expect(transport.lastWords).toBe(`${'a'.repeat(1999)}\n`);
  });

  test('that closes its input is reported, and what it says afterwards is still read', async () => {
    const { transport, messages, errors } = await startScript(
      `read -r go; exec 0<&-; printf '{"a":1}\n{"a":2}\n'; sleep 60`,
    );
    const large = { jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(2_000_000) } } as const;
    await transport.send({ jsonrpc: '2.0', id: 0, result: {} });
    await transport.send(large);
    await vi.waitFor(() => expect(messages).toEqual([{ a: 1 }, { a: 2 }]), 10_000);
    expect(errors).toEqual([expect.stringContaining('EPIPE')]);
    await expect(transport.send(large)).rejects.toThrow('MCP: the server is gone');
  });

  test('is remembered by the end of its standard error', async () => {
    const { transport, closed } = await startScript(
      `i=0; while [ $i -lt 400 ]; do echo "line $i of the log" >&2; i=$((i+1)); done; echo last >&2`,
    );
    await closed;
    await vi.waitFor(() => expect(transport.lastWords).toMatch(/last\n$/));
    expect(transport.lastWords).toHaveLength(2000);
  });

  test('that sends a line above the bound is ended', async () => {
    const { errors, messages, closed } = await startScript(
      `printf '{"a":1}\n'; head -c 2000 /dev/zero | tr '\\0' x; sleep 60`,
    );
    await closed;
    expect(messages).toEqual([{ a: 1 }]);
    expect(errors).toEqual([expect.stringContaining('1000')]);
  });

  test('ends by itself when its input ends', async () => {
    const { transport, messages, closed } = await startScript(`cat >/dev/null; echo '{"bye":1}'`);
    await transport.close();
    await closed;
    expect(messages).toEqual([{ bye: 1 }]);
    await transport.close();
  });

  test('that does not end is killed after a bound, with the processes that it started', async () => {
    const { transport, messages, closed } = await startScript(
      `trap '' TERM HUP; sleep 60 & printf '{"pid":%s,"own":%s}\n' $! $$; while :; do sleep 60; done`,
    );
    await vi.waitFor(() => expect(messages).toHaveLength(1), 10_000);
    const [{ pid, own }] = messages as [{ pid: number; own: number }];
    expect([pid, own].map(isAlive)).toEqual([true, true]);
    await transport.close();
    await closed;
    await vi.waitFor(() => expect([pid, own].map(isAlive)).toEqual([false, false]), 10_000);
  });

  test('that leaves processes behind takes them with it', async () => {
    const { messages, closed } = await startScript(`sleep 60 >/dev/null 2>&1 & printf '{"pid":%s}\n' $!`);
    await closed;
    const [{ pid }] = messages as [{ pid: number }];
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), 10_000);
  });

  test('is gone before it is started, and closing it then is no fault', async () => {
    const transport = new ChildTransport({
      ...{
        command: '/bin/sh',
        args: [],
        environment: {},
        folder: import.meta.dirname,
        maxMessageBytes: 1000,
      },
    });
    expect(transport.unreadBytes).toBe(0);
    await expect(transport.send({ jsonrpc: '2.0', id: 1, result: {} })).rejects.toThrow('the server is gone');
    await transport.close();
  });

  test('ends with the process that started it, even after its crash', async () => {
    const command = {
      ...{ command: '/bin/sh', args: ['-c', `printf '{"pid":%s}\\n' $$; sleep 60; sleep 60`] },
      ...{ environment: { PATH: process.env.PATH }, folder: '/', maxMessageBytes: 1000 },
    };
    const program = `
      import { ChildTransport } from ${JSON.stringify(new URL('./child-transport.ts', import.meta.url).href)};
      const transport = new ChildTransport(${JSON.stringify(command)});
      transport.onmessage = ({ pid }) => process.stdout.write(String(pid));
      await transport.start();`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', program]);
    onTestFinished(() => void holder.kill('SIGKILL'));
    const [pid] = await once(holder.stdout, 'data', { signal: AbortSignal.timeout(30_000) });
    expect(isAlive(Number(pid))).toBe(true);
    holder.kill('SIGKILL');
    await vi.waitFor(() => expect(isAlive(Number(pid))).toBe(false), 10_000);
  });

  test('that cannot be started is named', async () => {
    const transport = new ChildTransport({
      command: '/bin/sh',
      args: [],
      environment: {},
      folder: '/there/is/no/such/folder',
      maxMessageBytes: 1000,
    });
    await expect(transport.start()).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/^MCP: \/bin\/sh cannot be started: .*ENOENT/),
      cause: expect.anything(),
    });
    await transport.close();
  });
});
