import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isJsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { resolveEngine, type Team } from '@gaia-mesh/core/contracts/team.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { ANSWER_FORMAT } from '@gaia-mesh/tools/answers/answer-format.ts';
import { REPORT_FORMAT } from '@gaia-mesh/tools/answers/fact.ts';
import { identifyModelSource } from '@gaia-mesh/tools/engines/registry.ts';
import { createPromptLoader } from '@gaia-mesh/tools/prompts.ts';
import { hashUserFiles } from '../teams/user-files.ts';

/**
 * Everything a team's answers depend on besides question and file: part of the cache's key, and compared when a batch is resumed.
 */
interface TeamFingerprint {
  /** Engine and model, also of each agent that has its own. */
  readonly model: string;
  /** Changes with any prompt, the form of answers, and any word of the team's file. */
  readonly promptVersion: string;
  /** The sources of its agents' models, for the cache alone: a batch may be resumed at another server. */
  readonly servers?: string | undefined;
}

export async function fingerprintTeam(team: Team): Promise<TeamFingerprint> {
  const named = ({ engine, model }: { engine?: string | undefined; model?: string | undefined }) =>
    `${engine ?? team.engine}/${model ?? team.model ?? 'default'}`;
  const own = team.agents.filter(({ engine, model }) => engine !== undefined || model !== undefined);
  const hash = createHash('sha256');
  // Answers do not depend on how packets are encoded and transported; the address of the model server is kept apart.
  const { adapter: _adapter, model_host: _host, port_base: _ports, ...others } = stripPlace(team);
  const {
    delivery: _delivery,
    transport: _transport,
    nats_url: _url,
    nats_subject: _subject,
    ...rest
  } = others;
  hash.update(JSON.stringify(rest, sortKeys));
  const folder = path.join(codeFolder, 'config', 'prompts');
  const shipped = readdirSync(folder).filter((name) => name.endsWith('.md'));
  // Prompts contain these two texts, which are constants in the code and not files.
  hash.update(ANSWER_FORMAT).update(REPORT_FORMAT);
  for (const name of shipped.sort()) hash.update(`\0${name}\0`).update(readFileSync(path.join(folder, name)));
  for (const { prompt } of team.agents)
    if (prompt !== undefined) hash.update('\0').update(createPromptLoader(prompt)(''));
  hashUserFiles(hash, [team.engine, ...team.agents.flatMap(({ tool, engine }) => [tool, engine ?? ''])]);
  return {
    model: [named({}), ...own.map((agent) => `${agent.id}=${named(agent)}`)].join(' '),
    promptVersion: hash.digest('hex').slice(0, 32),
    servers: (await listServers(team)).join(' ') || undefined,
  };
}

/** Sorts the keys of objects: their order differs between a team's file, the command line and a database. */
function sortKeys(_key: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the URLs of the model servers that a team's agents ask, and the identities of model files that run on this machine. */
async function listServers(team: Team): Promise<string[]> {
  const sources = await Promise.all(
    team.agents.map(async (agent) => {
      const { engine, host, model } = resolveEngine(team, agent);
      return (await identifyModelSource(engine, omitUndefined({ host, model }))) ?? host ?? [];
    }),
  );
  return [...new Set(sources.flat())].sort();
}

/** Replaces the path of a file of replies, which depends on the process, by its name, which depends on its content. */
function stripPlace(team: Team): Team {
  const replies = team.engine_options?.replies;
  if (typeof replies !== 'string') return team;
  const name = path.basename(path.dirname(replies)).replace(/-\d+$/, '');
  return { ...team, engine_options: { ...team.engine_options, replies: name } };
}
