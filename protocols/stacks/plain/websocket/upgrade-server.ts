import http from 'node:http';
import https from 'node:https';
import type { StackSettings } from '../../contract/stack.ts';
import { closerOf, listenAt } from '../../listen.ts';

/** A server of HTTP that is there to be upgraded; `attach` says how. */
export async function serveUpgrades(
  { tls, advertisedPort }: Pick<StackSettings, 'tls' | 'advertisedPort'>,
  attach: (server: http.Server) => void,
) {
  const server = tls === null ? http.createServer() : https.createServer({ ...tls, minVersion: 'TLSv1.3' });
  attach(server);
  const close = closerOf(server);
  const port = await listenAt(server, { port: 0 });
  const scheme = tls === null ? 'ws' : 'wss';
  return { address: `${scheme}://127.0.0.1:${advertisedPort ?? port}/`, port, close };
}
