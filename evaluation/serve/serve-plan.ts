import { resolveOutFolder, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { checkStoreUse } from '../batch/batch-store.ts';
import { resolveTaskFolder } from '../plan/bench-plan.ts';
import { loadTeams, type PlannedTeam, planTeam, type TeamOptions } from '../plan/team-options.ts';
import { readTaskFolder } from '../questions/read-questions.ts';
import type { ServeLimits } from './served-team.ts';

export interface ServeCommandOptions extends TeamOptions {
  readonly team: string;
  readonly mcp?: 'stdio' | 'http';
  readonly a2a?: boolean;
  readonly listen: string;
  readonly port: number;
  /** Name of the variable that holds the token; false for no token. */
  readonly token?: string | false;
  readonly pushTo: readonly string[];
  readonly waiting: number;
  readonly maxBytes: number;
  readonly document?: string;
  readonly task?: string;
  readonly out?: string;
  readonly store?: string;
  readonly portBase?: number | 'auto';
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** The plan of a `serve` with all options resolved and checked. Nothing has been started or written yet. */
interface ServePlan {
  readonly planned: PlannedTeam;
  readonly limits: ServeLimits;
  readonly document: string | undefined;
  readonly description: string;
  readonly mcp: 'stdio' | 'http' | undefined;
  readonly a2a: boolean;
}

/**
 * Resolves and checks the options of a `serve`.
 *
 * @throws MeshError `usage` or `config`
 */
export async function servePlan(options: ServeCommandOptions): Promise<ServePlan> {
  const [team] = await loadTeams([options.team], options);
  if (team === undefined) throw new Error('one team is served');
  const out = resolveOutFolder(options.out);
  const planned = await planTeam(team, options, out);
  checkStoreUse([planned], options.store);
  const { mcp, a2a = false } = options;
  // Serve every protocol if none is named.
  const isAll = mcp === undefined && !a2a;
  return {
    planned,
    limits: { tasks: planned.concurrency, waiting: options.waiting, bytes: options.maxBytes },
    document: await loadServedDocument(options),
    description: `A team of agents that answers a question${
      options.task === undefined && options.document === undefined ? '' : ' about a document that it has'
    } (${team.description ?? team.name})`,
    mcp: isAll ? 'http' : mcp,
    a2a: isAll || a2a,
  };
}

async function loadServedDocument({ task, document }: ServeCommandOptions): Promise<string | undefined> {
  if (task !== undefined) return readTaskFolder(resolveTaskFolder(task)).document;
  if (document === undefined) return undefined;
  const { readUserDocument } = await import('../questions/user-document.ts');
  return (await readUserDocument(resolveUserPath(document))).text;
}
