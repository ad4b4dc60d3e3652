import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { ToolNeeds } from '@gaia-mesh/core/contracts/tool.ts';

/** What an agent with a tool of somebody else's must be allowed: variables by the names that the team file says, and no others. */

/** A server at an address is reached over the network; one that is started gets none, unless the team file says so. */
export function describeMcpNeeds(options: JsonObject): ToolNeeds {
  const isStarted = 'command' in options;
  return {
    ...(isStarted ? { childProcesses: true as const } : {}),
    ...(isStarted && options.network !== true ? {} : { network: true as const }),
    environment: [...listNames(options.env), ...listNames([options.token])],
  };
}

export function describeA2aNeeds({ token }: JsonObject): ToolNeeds {
  return { network: true, environment: listNames([token]) };
}

function listNames(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

/** Whether a tool hands calls on to somebody else: what it offers, that one says itself. */
export function isForeign(tool: string): boolean {
  return tool === 'mcp' || tool === 'a2a';
}

/** Whether what is called may ask models, as far as anybody here knows. */
export function isUnseen(tool: string, options: JsonObject = {}): boolean {
  return isForeign(tool) && options.asks_models !== false;
}
