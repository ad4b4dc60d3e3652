import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Network } from './network.ts';
import { openShapingRelay } from './shaping-relay.ts';

const run = promisify(execFile);

/** A program that answers each byte with one, or all of them when the client has ended, and says its port. */
const ECHO = `const s=require('net').createServer({noDelay:true,allowHalfOpen:true},c=>{
if(process.argv[1]==='end')c.resume().on('end',()=>c.end('x'));else c.pipe(c)});
s.listen(0,'0.0.0.0',()=>console.log(s.address().port))`;
/** A program that prints the milliseconds of each of 25 round trips of one byte. */
const PING = `const [host,port]=process.argv.slice(1);
const c=require('net').connect({host,port,noDelay:true});let n=0,t;
const go=()=>{t=performance.now();c.write('x')};
c.on('connect',go);
c.on('data',()=>{console.log(performance.now()-t);if(++n===25)process.exit(0);setTimeout(go,3)})`;
/** A program that prints the milliseconds until a server has read as many bytes as it is told. */
const SEND = `const [host,port,bytes]=process.argv.slice(1);
const c=require('net').connect({host,port,noDelay:true,allowHalfOpen:true});let t;
c.on('connect',()=>{t=performance.now();c.end(Buffer.alloc(Number(bytes)))});
c.on('data',()=>{console.log(performance.now()-t);process.exit(0)})`;

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Starts the echo, in a network namespace if one is given, and returns its port. */
async function startEcho(mode: 'each' | 'end', within: readonly string[] = []): Promise<number> {
  const [command = '', ...args] = [...within, process.execPath, '--eval', ECHO, mode];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const [port]: unknown[] = await once(child.stdout, 'data');
  return Number(port);
}

/** Runs a client, in a network namespace if one is given, and returns the median of its milliseconds. */
async function measure(program: string, words: readonly unknown[], within: readonly string[] = []) {
  const [command = '', ...args] = [...within, process.execPath, '--eval', program, ...words.map(String)];
  const { stdout } = await run(command, args, { timeout: 60_000 });
  return median(stdout.trim().split('\n').map(Number));
}

async function relayTo(port: number, network: Network): Promise<number> {
  const { forwarder } = await openShapingRelay(network);
  onTestFinished(() => forwarder.close());
  forwarder.forwardTo(port);
  return forwarder.port;
}

const [HERE, THERE] = [`gm-${process.pid}-a`, `gm-${process.pid}-b`];
const inside = (name: string) => ['ip', 'netns', 'exec', name];

/** Makes two network namespaces with a cable between them; returns false if they cannot have these queues. */
async function connectNamespaces(queue: string): Promise<boolean> {
  const script = `set -e
    for n in ${HERE} ${THERE}; do ip netns add $n; ip -n $n link set lo up; done
    ip link add gm-a netns ${HERE} type veth peer name gm-b netns ${THERE}
    ip -n ${HERE} addr add 192.168.77.1/24 dev gm-a; ip -n ${HERE} link set gm-a up
    ip -n ${THERE} addr add 192.168.77.2/24 dev gm-b; ip -n ${THERE} link set gm-b up
    tc -n ${HERE} qdisc add dev gm-a root ${queue}; tc -n ${THERE} qdisc add dev gm-b root ${queue}`;
  try {
    await run('sh', ['-c', script]);
    return true;
  } catch (error) {
    console.warn(`skipped: no network namespaces with ${queue} here: ${String(error)}`);
    return false;
  }
}

async function removeNamespaces(): Promise<void> {
  for (const name of [HERE, THERE]) await run('ip', ['netns', 'del', name]).catch(() => undefined);
}

/** Tries on a machine that others keep busy; each takes a new measurement of both. */
const TRIES = 4;

/** Measures the relay against the system until they agree within 5 %. */
async function expectAgreement(what: string, ratio: () => Promise<number>): Promise<void> {
  const ratios: number[] = [];
  while (ratios.length < TRIES && !ratios.some((own) => Math.abs(own - 1) < 0.05)) ratios.push(await ratio());
  expect(Math.min(...ratios.map((own) => Math.abs(own - 1))), `${what}: ${ratios}`).toBeLessThan(0.05);
}

describe('between two network namespaces, within 5 % of the median', { timeout: 90_000 }, () => {
  test('delays as netem does', async (context) => {
    onTestFinished(removeNamespaces);
    if (!(await connectNamespaces('netem delay 1ms'))) return context.skip();
    const [own, other] = [await startEcho('each'), await startEcho('each', inside(THERE))];
    for (const rttMs of [10, 40, 100]) {
      for (const [name, device] of [
        [HERE, 'gm-a'],
        [THERE, 'gm-b'],
      ] as const)
        await run('tc', `-n ${name} qdisc change dev ${device} root netem delay ${rttMs / 2}ms`.split(' '));
      const relay = await relayTo(own, { rttMs, bitsPerS: 1e9 });
      await expectAgreement(
        `rtt ${rttMs}`,
        async () =>
          (await measure(PING, ['127.0.0.1', relay])) /
          (await measure(PING, ['192.168.77.2', other], inside(HERE))),
      );
    }
  });

  test('limits the rate as tbf does', async (context) => {
    onTestFinished(removeNamespaces);
    const bitsPerS = 20e6;
    if (!(await connectNamespaces(`tbf rate ${bitsPerS}bit burst 10kb limit 300kb`))) return context.skip();
    const [own, other] = [await startEcho('end'), await startEcho('end', inside(THERE))];
    // The system's limit is for heads, too: 66 of 1,514 bytes of Ethernet, IP and TCP.
    const relay = await relayTo(own, { rttMs: 0, bitsPerS: (bitsPerS * 1448) / 1514 });
    const bytes = 5_000_000;
    await expectAgreement(
      'rate',
      async () =>
        (await measure(SEND, ['127.0.0.1', relay, bytes])) /
        (await measure(SEND, ['192.168.77.2', other, bytes], inside(HERE))),
    );
  });
});
