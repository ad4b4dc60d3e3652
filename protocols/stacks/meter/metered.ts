import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { raceAbort } from '@gaia-mesh/core/system/process/abort.ts';
import type { Inbox, Stack, StackClient, StackServer, StackSettings } from '../contract/stack.ts';
import { watchWires } from './watch-wires.ts';
import { WireMeter } from './wire-meter.ts';

/** A stack without counting. It reports to the meter only its own pipes and messages that do not travel over HTTP. */
interface UnmeteredStack extends Omit<Stack, 'serve' | 'connect'> {
  /** Resolves with a `wire` of its own where bytes are counted in other processes. */
  serve(
    inbox: Inbox,
    settings: StackSettings,
    meter: WireMeter,
  ): Promise<Omit<StackServer, 'wire'> & Partial<Pick<StackServer, 'wire'>>>;
  connect(address: string, settings: StackSettings, meter: WireMeter): Promise<Omit<StackClient, 'wire'>>;
}

/**
 * Returns `stack` with its bytes counted: every socket that a call of a server or client opens or accepts,
 * even later, belongs to that server or client. Sockets of the inbox belong to the caller again. Exchanges end at
 * the deadline of the settings.
 */
export function meterStack(stack: UnmeteredStack): Stack {
  return {
    ...stack,
    async serve(inbox, settings) {
      watchWires();
      const meter = new WireMeter();
      const exited = (packet: Packet, signal: AbortSignal) => WireMeter.exit(() => inbox(packet, signal));
      const own: Inbox = Object.assign(exited, { source: inbox.source });
      const server = await meter.run(() => stack.serve(own, settings, meter));
      return {
        address: server.address,
        port: server.port,
        wire: () => server.wire?.() ?? meter.bytes,
        ask: server.ask,
        close: () => meter.run(() => server.close()),
      };
    },
    async connect(address, settings) {
      watchWires();
      const meter = new WireMeter();
      const client = await meter.run(() => stack.connect(address, settings, meter));
      return {
        // Any exchange may open connections.
        exchange: (packet, caller, answers) =>
          withDeadline(
            { signal: caller, deadlineMs: settings.deadlineMs, what: `${stack.name}: ${packet.id}` },
            (signal) => meter.run(() => client.exchange(packet, signal, answers)),
          ),
        wire: () => meter.bytes,
        close: () => meter.run(() => client.close()),
      };
    },
  };
}

/**
 * Does `work`, whose signal is aborted when the caller's is or the deadline has passed.
 *
 * @param what names the work in the message: `json/unix: p-7`
 * @throws MeshError `agent` when the deadline has passed, and the reason of `signal` when that was aborted
 */
async function withDeadline<Result>(
  {
    signal,
    deadlineMs,
    what,
  }: { readonly signal: AbortSignal; readonly deadlineMs: number; readonly what: string },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort(new MeshError('agent', `${what}: expected an answer within ${deadlineMs} ms, none came`));
  }, deadlineMs);
  const either = AbortSignal.any([signal, deadline.signal]);
  try {
    return await raceAbort(either, work(either));
  } finally {
    clearTimeout(timer);
  }
}
