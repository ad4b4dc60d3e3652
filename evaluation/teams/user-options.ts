import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Team, TeamAgent } from '@gaia-mesh/core/contracts/team.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { parseFileName, resolveUserName } from './user-files.ts';

/** Replaces user's files in options for adapter and engine by the names of their exports. */
export function withNames<
  Options extends { readonly adapter?: string | undefined; readonly engine?: string | undefined },
>(options: Options): Options {
  const { adapter, engine } = options;
  return {
    ...options,
    adapter: adapter && resolveUserName('adapter', adapter),
    engine: engine && resolveUserName('engine', engine),
  };
}

/**
 * Returns a team's agents with tools of the user's: `extract=./mine.ts` for the agents with the tool `extract` (or the agent with
 * that id), `./mine.ts` for those with a tool of the file's name.
 *
 * @throws MeshError `usage` if no agent matches, `config` for a file that exports no tool
 */
export function withTools({ name: team, agents }: Team, replacements: readonly string[] = []): TeamAgent[] {
  return replacements.reduce<TeamAgent[]>((before, text) => {
    const [, given, file = ''] = /^(?:([^=/]+)=)?(.+)$/.exec(text) ?? [];
    if (parseFileName(file) === undefined) {
      throw new MeshError(
        'usage',
        `${JSON.stringify(text)}: expected a file, or WHICH=FILE, e.g. extract=./mine.ts`,
        {
          setting: 'tool',
        },
      );
    }
    const tool = resolveUserName('tool', file);
    const which = given ?? tool;
    if (!before.some((agent) => agent.id === which || agent.tool === which)) {
      const known = before.map((agent) => `${agent.id} (${agent.tool})`).join(', ');
      throw new MeshError(
        'usage',
        `team ${team} has no agent ${which} and none with that tool; it has ${known}. Say which one gets the tool: extract=${file}`,
        { setting: 'tool' },
      );
    }
    return before.map((agent) => (agent.id === which || agent.tool === which ? { ...agent, tool } : agent));
  }, agents);
}

/** Loads the adapter that an option names, with its layers; it may be in a user's file. */
export const loadUserSpec = (spec: string): Promise<ProtocolAdapter> =>
  loadAdapter(resolveUserName('adapter', spec));

/**
 * Loads the adapters that `specs` name. Those in users' files must pass the contract suite.
 *
 * @throws MeshError `usage` for unknown names, `config` for a file without an adapter or with one that does not conform
 */
export async function loadChosenAdapters(specs: readonly string[]): Promise<ProtocolAdapter[]> {
  const adapters: ProtocolAdapter[] = [];
  for (const spec of specs) {
    const file = parseFileName(spec);
    if (file !== undefined) await assertConforms(resolveUserPath(file));
    adapters.push(await loadUserSpec(spec));
  }
  return adapters;
}

async function assertConforms(file: string): Promise<void> {
  const { checkContract } = await import('./check-contract.ts');
  const { results } = await checkContract({ file }, { stopsAtFailure: true });
  const failed = results.find(({ passed }) => !passed);
  if (failed === undefined) return;
  throw new MeshError(
    'config',
    `${file} does not conform, so a comparison with it would mean nothing: ${failed.name}: ` +
      `${failed.reason}; see all with: ${formatCommandLine('conformance', [file])}`,
  );
}
