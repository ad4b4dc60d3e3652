import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { ToolNeeds } from '@gaia-mesh/core/contracts/tool.ts';

// A foreign tool may read the variables that the team file names, and no others.

/** A server at a URL needs the network; a started program gets it only if the team file says so. */
export function describeMcpNeeds(options: JsonObject): ToolNeeds {
  const isStarted = 'command' in options;
  return {
    childProcesses: isStarted ? true : undefined,
    network: !isStarted || options.network === true ? true : undefined,
    environment: [...listNames(options.env), ...listNames([options.token])],
  };
}

export function describeA2aNeeds({ token }: JsonObject): ToolNeeds {
  return { network: true, environment: listNames([token]) };
}

function listNames(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

/** Returns true if a tool passes calls on to a foreign peer, which lists its own tools. */
export function isForeign(tool: string): boolean {
  return tool === 'mcp' || tool === 'a2a';
}

/** Returns true if calls of the tool may use models unseen by this process, unless the user ruled it out. */
export function isUnseen(tool: string, options: JsonObject = {}): boolean {
  return isForeign(tool) && options.asks_models !== false;
}
