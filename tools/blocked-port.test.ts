import { expect, test } from 'vitest';
import { explainBlockedPort } from './blocked-port.ts';

test('the ports are those that fetch refuses, before it asks anybody', async () => {
  const urls = Array.from({ length: 10_100 }, (_, port) => new URL(`http://127.0.0.1:${port + 1}`));
  const blocked = urls.filter((url) => explainBlockedPort(url) !== undefined);
  expect(blocked.length).toBeGreaterThan(70);
  for (const { href, port } of blocked) {
    const refused = fetch(href);
    await expect(refused, port).rejects.toMatchObject({ cause: { message: 'bad port' } });
  }
});

test.each(['http://127.0.0.1:6000/v1', 'https://models.example:10080', 'http://[::1]:22'])(
  '%s is named with its port and what to do',
  (url) => {
    const { host, port } = new URL(url);
    const fault = explainBlockedPort(new URL(url));
    for (const part of [host, `port ${port}`, 'expected a port', 'choose another port'])
      expect(fault).toContain(part);
  },
);

test.each(['http://127.0.0.1:6001', 'http://127.0.0.1', 'https://models.example', 'http://127.0.0.1:5999'])(
  '%s is fine',
  (url) => expect(explainBlockedPort(new URL(url))).toBeUndefined(),
);
