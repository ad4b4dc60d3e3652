import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { sendRequest } from './fetch.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

async function silentServer(): Promise<string> {
  const server = http.createServer(() => undefined).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('a server that is silent is given up when who asked says so, also after garbage was collected', async () => {
  const url = await silentServer();
  const over = new AbortController();
  const asked = sendRequest(new URL(url), { body: '{}', signal: over.signal });
  const ended = expect(asked).rejects.toThrow('aborted');
  for (let round = 0; round < 5; round++) {
    await delay(20);
    collectGarbage();
  }
  over.abort();
  await ended;
});
