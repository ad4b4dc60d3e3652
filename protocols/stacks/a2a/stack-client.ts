import type { StackClient, StackSettings } from '../contract/stack.ts';
import type { A2aClient } from './client.ts';
import { exchangeOver } from './exchange.ts';
import { Webhook } from './webhook.ts';

/** Exchanges of packets over any client of A2A. */
export async function createStackClient(
  client: A2aClient,
  settings: StackSettings,
): Promise<Omit<StackClient, 'wire'>> {
  const webhook = settings.later === 'push' ? await Webhook.start(settings) : undefined;
  return {
    exchange: async (packet, signal) => {
      const both = AbortSignal.any([signal, AbortSignal.timeout(settings.deadlineMs)]);
      return exchangeOver(client, webhook, packet, settings, both);
    },
    async close() {
      await client.close();
      await webhook?.close();
    },
  };
}
