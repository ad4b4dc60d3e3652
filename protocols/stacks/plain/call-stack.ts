import { HUB_ID, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { json } from '@gaia-mesh/protocols/json.ts';
import type { Stack, StackServer, StackSettings } from '../contract/stack.ts';
import { meterStack } from '../meter/metered.ts';

/** A transport of calls, which carries a body to a server and another one back. It knows nothing of packets. */
interface CallTransport extends Pick<Stack, 'transport' | 'implementation'> {
  listen(answer: Answer, settings: StackSettings): Promise<Omit<StackServer, 'wire'>>;
  /** @throws MeshError `agent` if no server listens there */
  dial(address: string, settings: StackSettings): Promise<Caller>;
}

/** A server's work on the body of a call: returns the body of its answer, which is empty if there is none. */
export type Answer = (body: Buffer, signal: AbortSignal) => Promise<Buffer>;

interface Caller {
  /** @throws MeshError `agent` for a call that failed */
  call(body: string, signal: AbortSignal): Promise<Buffer>;
  close(): void;
}

/** Creates a stack of calls. The body of a call is a packet as JSON; that of the answer has its answers, one a line. */
export function callStack({ listen, dial, ...own }: CallTransport): Stack {
  const name = `json/${own.transport}`;
  return meterStack({
    ...own,
    name,
    protocol: 'json',
    traits: { oneWay: 'acknowledged', hasTls: true },
    serve: (inbox, settings) =>
      listen(async (body, signal) => {
        const packets = await inbox(codec.decode(body), signal);
        return Buffer.from(packets.map((packet) => JSON.stringify(packet)).join('\n'));
      }, settings),
    async connect(address, settings) {
      const caller = await dial(address, settings);
      return {
        exchange: async (packet, signal) => parsePackets(await caller.call(JSON.stringify(packet), signal)),
        async close() {
          caller.close();
        },
      };
    },
  });
}

const noKey = new Uint8Array(32);
const codec = json.open({
  runId: 'stack',
  self: HUB_ID,
  peer: '*',
  linkKey: noKey,
  runKey: noKey,
  offers: new Map(),
});

const NEWLINE = 0x0a;

/** @throws MeshError `packet` */
function parsePackets(body: Buffer): Packet[] {
  const packets: Packet[] = [];
  for (let start = 0; start < body.length; ) {
    const newline = body.indexOf(NEWLINE, start);
    const end = newline === -1 ? body.length : newline;
    packets.push(codec.decode(body.subarray(start, end)));
    start = end + 1;
  }
  return packets;
}
