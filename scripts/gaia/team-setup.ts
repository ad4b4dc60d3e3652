import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '../../config/package-root.ts';
import { MeshError } from '../../core/errors.ts';
import { unknown } from '../../core/registry.ts';
import type { Team, TeamAgent } from '../../core/team.ts';
import { checkSpec } from '../../protocols/registry.ts';
import { checkKey, engineNames } from '../../tools/engines/registry.ts';
import { checkTeamServers } from '../check-servers.ts';

/** What the command line says about every team, and wins over the team file with. */
export interface TeamOptions {
  readonly adapter?: string;
  readonly engine?: string;
  readonly model?: string;
  /** Where the model is served. */
  readonly host?: string;
  /** The same, of a server that speaks as OpenAI's does: without an engine it means that one. */
  readonly baseUrl?: string;
}

/**
 * A team as it is to run: engine, model and key are checked before anything is started (RA-50).
 *
 * @throws MeshError `usage`, `config`
 */
export function teamWith(team: Team, options: TeamOptions): Team {
  if (options.host !== undefined && options.baseUrl !== undefined)
    throw new MeshError('usage', '--host and --base-url are the same: give one of them');
  const engine = options.engine ?? (options.baseUrl === undefined ? undefined : 'openai');
  if (engine !== undefined && !engineNames.includes(engine)) throw unknown('engine', engine, engineNames);
  if (options.adapter !== undefined) checkSpec(options.adapter);
  const host = options.host ?? options.baseUrl ?? team.model_host;
  if (host !== undefined && URL.parse(host) === null)
    throw new MeshError(
      'usage',
      `expected an address like http://127.0.0.1:11434, not ${JSON.stringify(host)}`,
    );
  const agents = team.agents.map((agent): TeamAgent => {
    const { engine: _engine, model: _model, ...rest } = agent;
    // An engine or a model for the run is one for every agent.
    if (engine !== undefined) return rest;
    return options.model === undefined || agent.model === undefined
      ? agent
      : { ...agent, model: options.model };
  });
  const result: Team = {
    ...team,
    agents,
    adapter: options.adapter ?? team.adapter,
    engine: engine ?? team.engine,
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(host === undefined ? {} : { model_host: host }),
  };
  checkTeamServers(result);
  for (const name of new Set([result.engine, ...agents.flatMap((agent) => agent.engine ?? [])]))
    checkKey(name, host === undefined ? {} : { host });
  return result;
}

/** What answers of a team depend on, beside question and file: part of the cache's key, and what a resumed batch must share. */
export interface TeamSetup {
  /** Engine and model, of each agent that has its own. */
  readonly model: string;
  /** Changes with any prompt, and with any word of the team's file. */
  readonly promptVersion: string;
}

export function setupOf(team: Team): TeamSetup {
  const named = ({ engine, model }: { engine?: string | undefined; model?: string | undefined }) =>
    `${engine ?? team.engine}/${model ?? team.model ?? 'default'}`;
  const own = team.agents.filter(({ engine, model }) => engine !== undefined || model !== undefined);
  const hash = createHash('sha256');
  // Where it is served is not what it says; how its packets are written neither.
  const { adapter: _adapter, model_host: _host, port_base: _ports, ...rest } = team;
  hash.update(JSON.stringify(rest));
  const folder = path.join(codeFolder, 'config', 'prompts');
  const shipped = readdirSync(folder).filter((name) => name.endsWith('.md'));
  for (const name of shipped.sort()) hash.update(`\0${name}\0`).update(readFileSync(path.join(folder, name)));
  for (const { prompt } of team.agents)
    if (prompt !== undefined) hash.update('\0').update(readFileSync(prompt));
  return {
    model: [named({}), ...own.map((agent) => `${agent.id}=${named(agent)}`)].join(' '),
    promptVersion: hash.digest('hex').slice(0, 32),
  };
}
