import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
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
