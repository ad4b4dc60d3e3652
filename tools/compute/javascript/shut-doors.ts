import child_process from 'node:child_process';
import cluster from 'node:cluster';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import http2 from 'node:http2';
import inspector from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';
import v8 from 'node:v8';
import worker from 'node:worker_threads';

/** What is refused. It tells whoever runs the program, not only the program. */
function refused(what: string): () => never {
  return () => {
    throw Object.assign(new Error(`${what}: a program of a question has no network and no other processes`), {
      code: 'ERR_ACCESS_DENIED',
    });
  };
}

/**
 * Takes away what Node's permission model leaves open: the network, signals to other processes, and V8's own switches. Every way of Node's to
 * a connection goes through one of these; they cannot be put back, since they are frozen before any other code runs. Where the machine
 * has namespaces, the kernel holds the same.
 */
export function shutDoors(): void {
  const noNetwork = refused('no connection is made');
  const noProcess = refused('nothing is started and no other process is reached');
  const shut = (owner: object, names: readonly string[], instead: () => never) => {
    for (const name of names)
      if (name in owner)
        Object.defineProperty(owner, name, { value: instead, writable: false, configurable: false });
  };
  shut(net.Socket.prototype, ['connect', 'open'], noNetwork);
  shut(net.Server.prototype, ['listen', '_listen2'], noNetwork);
  shut(net, ['connect', 'createConnection', '_createServerHandle'], noNetwork);
  shut(tls, ['connect'], noNetwork);
  shut(http2, ['connect'], noNetwork);
  shut(dgram.Socket.prototype, ['bind', 'connect', 'send', 'addMembership'], noNetwork);
  shut(dgram, ['createSocket', 'Socket', '_createSocketHandle'], noNetwork);
  for (const resolver of [dns, dns.promises])
    shut(
      resolver,
      Object.keys(resolver).filter((name) => /^(lookup|resolve|reverse|Resolver)/.test(name)),
      noNetwork,
    );
  shut(inspector, ['open', 'Session', 'waitForDebugger'], noProcess);
  shut(child_process, Object.keys(child_process), noProcess);
  shut(worker, ['Worker'], noProcess);
  shut(cluster, ['fork', 'setupPrimary', 'setupMaster'], noProcess);
  shut(
    v8,
    ['setFlagsFromString', 'writeHeapSnapshot', 'startupSnapshot', 'setHeapSnapshotNearHeapLimit'],
    noProcess,
  );
  shut(fs, ['watch', 'watchFile'], noProcess);
  shut(
    process,
    [
      'kill',
      '_kill',
      'execve',
      'binding',
      '_linkedBinding',
      'dlopen',
      '_debugProcess',
      '_startProfilerIdleNotifier',
    ],
    noProcess,
  );
  shut(globalThis, ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'], noNetwork);
  syncBuiltinESMExports();
}
