import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ShapingRelay } from './shaping-relay.ts';

const run = promisify(execFile);

/** A program that answers each byte with one, and says its port. */
const ECHO =
  "const s=require('net').createServer({noDelay:true},c=>c.pipe(c));s.listen(0,'0.0.0.0',()=>console.log(s.address().port))";
/** A program that prints the milliseconds of each of 25 round trips of one byte. */
const PING = `const [host,port]=process.argv.slice(1);
const c=require('net').connect({host,port,noDelay:true});let n=0,t;
const go=()=>{t=performance.now();c.write('x')};
c.on('connect',go);
c.on('data',()=>{console.log(performance.now()-t);if(++n===25)process.exit(0);setTimeout(go,3)})`;

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Starts the echo, in a network namespace if one is given, and returns its port. */
async function startEcho(within: readonly string[] = []): Promise<number> {
  const [command = '', ...args] = [...within, process.execPath, '--eval', ECHO];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const [port]: unknown[] = await once(child.stdout, 'data');
  return Number(port);
}

async function measureRoundTrip(host: string, port: number, within: readonly string[] = []): Promise<number> {
  const [command = '', ...args] = [...within, process.execPath, '--eval', PING, host, String(port)];
  const { stdout } = await run(command, args, { timeout: 30_000 });
  return median(stdout.trim().split('\n').map(Number));
}

async function startRelay(network: { rttMs: number; bitsPerS: number }, port: number): Promise<ShapingRelay> {
  const relay = await ShapingRelay.listen(network);
  onTestFinished(() => relay.close());
  relay.forwardTo(port);
  return relay;
}

const [HERE, THERE] = [`gm-${process.pid}-a`, `gm-${process.pid}-b`];

/** Makes two network namespaces with a cable between them, whose ends delay what leaves them. */
async function connectNamespaces(): Promise<boolean> {
  const script = `set -e
    for n in ${HERE} ${THERE}; do ip netns add $n; ip -n $n link set lo up; done
    ip link add gm-a netns ${HERE} type veth peer name gm-b netns ${THERE}
    ip -n ${HERE} addr add 192.168.77.1/24 dev gm-a; ip -n ${HERE} link set gm-a up
    ip -n ${THERE} addr add 192.168.77.2/24 dev gm-b; ip -n ${THERE} link set gm-b up
    tc -n ${HERE} qdisc add dev gm-a root netem delay 1ms; tc -n ${THERE} qdisc add dev gm-b root netem delay 1ms`;
  onTestFinished(async () => {
    for (const name of [HERE, THERE]) await run('ip', ['netns', 'del', name]).catch(() => undefined);
  });
  return run('sh', ['-c', script]).then(
    () => true,
    () => false,
  );
}

/** Tries on a machine that others keep busy; each takes a new measurement of both. */
const TRIES = 4;

test('delays as netem does between two network namespaces, within 5 % of the median', {
  timeout: 60_000,
}, async () => {
  const isReal = await connectNamespaces();
  // Without it, what a network adds to the loopback is known.
  if (!isReal)
    console.warn('netem is not here: round trips are compared with those of the loopback and the delay');
  const inside = (name: string) => ['ip', 'netns', 'exec', name];
  const own = await startEcho();
  const other = isReal ? await startEcho(inside(THERE)) : own;
  for (const rttMs of [10, 40, 100]) {
    if (isReal) await delayBoth(rttMs / 2);
    const relay = await startRelay({ rttMs, bitsPerS: 1e9 }, own);
    const ratios: number[] = [];
    while (ratios.length < TRIES && !ratios.some((ratio) => Math.abs(ratio - 1) < 0.05)) {
      const real = isReal
        ? await measureRoundTrip('192.168.77.2', other, inside(HERE))
        : rttMs + (await measureRoundTrip('127.0.0.1', own));
      ratios.push((await measureRoundTrip('127.0.0.1', relay.port)) / real);
    }
    expect(Math.min(...ratios.map((ratio) => Math.abs(ratio - 1))), `rtt ${rttMs}: ${ratios}`).toBeLessThan(
      0.05,
    );
  }
});

async function delayBoth(ms: number): Promise<void> {
  for (const [name, device] of [
    [HERE, 'gm-a'],
    [THERE, 'gm-b'],
  ] as const)
    await run('tc', ['-n', name, 'qdisc', 'change', 'dev', device, 'root', 'netem', 'delay', `${ms}ms`]);
}
