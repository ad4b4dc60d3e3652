import type { ToolServices } from '@gaia-mesh/tools/tool-services.ts';
import { complain } from '../terminal/print.ts';

/** What agents' tools get of this room. Loaded when it is asked for: few agents do. */
export const toolServices: ToolServices = {
  async openMemory(place) {
    const { openStore } = await import('../store/open-store.ts');
    return openStore(place, { warn: (message) => complain(message) });
  },
  async connectMcp(place, signal) {
    const { connectMcp } = await import('./foreign-peers.ts');
    return connectMcp(place, signal);
  },
  async connectA2a(place, signal) {
    const { connectA2a } = await import('./foreign-peers.ts');
    return connectA2a(place, signal);
  },
  loadScorer: async () => (await import('../scorers/gaia.ts')).gaiaCorrect,
};
