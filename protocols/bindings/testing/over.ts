import type { Packet } from '../../../core/contracts/packet.ts';
import type { Binding, BindingSettings, Inbox } from '../contract/binding.ts';
import { testSettings } from './settings.ts';

/** What `use` does with an exchange over a binding whose server answers by `inbox`. */
export async function over(
  binding: Binding,
  inbox: Inbox,
  settings: Partial<BindingSettings>,
  use: (exchange: (packet: Packet) => Promise<readonly Packet[]>) => Promise<void>,
): Promise<void> {
  const all = { ...testSettings, ...settings };
  const server = await binding.serve(inbox, all);
  try {
    const client = await binding.connect(server.address, all);
    await use((packet) => client.exchange(packet, AbortSignal.timeout(20_000)));
    await client.close();
  } finally {
    await server.close();
  }
}
