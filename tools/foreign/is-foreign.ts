import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';

/** Returns true if a tool passes calls on to a foreign peer, which lists its own tools. */
export function isForeign(tool: string): boolean {
  return tool === 'mcp' || tool === 'a2a';
}

/** Returns true if calls of the tool may use models unseen by this process, unless the user ruled it out. */
export function isUnseen(tool: string, options: JsonObject = {}): boolean {
  return isForeign(tool) && options.asks_models !== false;
}
