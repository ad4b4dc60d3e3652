import { tcpListen } from '../../core/agent/listener.ts';
import { natsAddress } from '../../core/nats/nats-address.ts';
import { natsListen } from '../../core/nats/nats-listen.ts';
import { FAR_NODE, serveFarEnd } from '../transports/far-end.ts';

export interface FarEndOptions {
  readonly transport: string;
  readonly natsSubject?: string;
}

/** The other process of `transports`, which starts it. */
export async function farEnd({ transport, natsSubject = '' }: FarEndOptions): Promise<void> {
  const place = () => ({
    address: natsAddress(undefined, process.env),
    mesh: natsSubject,
    node: FAR_NODE.id,
  });
  await serveFarEnd(transport === 'nats' ? natsListen(place()) : tcpListen('127.0.0.1', 0));
}
