import type { ToolServices } from '@gaia-mesh/tools/tool-services.ts';
import { printError } from '../terminal/print.ts';

/** Services of this folder for agents' tools. They are loaded on demand, because few agents use them. */
export const toolServices: ToolServices = {
  async openMemory(place) {
    const { openStore } = await import('../store/open-store.ts');
    return openStore(place, { warn: (message) => printError(message) });
  },
  async connectMcp(endpoint, signal) {
    const { connectForeign } = await import('@gaia-mesh/stacks/mcp/foreign/foreign-server.ts');
    return connectForeign(endpoint, signal);
  },
  async connectA2a(endpoint, signal) {
    const { connectA2a } = await import('./foreign-peers.ts');
    return connectA2a(endpoint, signal);
  },
  loadScorer: async () => (await import('../scorers/gaia.ts')).isGaiaCorrect,
};
