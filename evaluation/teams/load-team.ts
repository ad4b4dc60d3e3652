import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { UserFile } from '@gaia-mesh/core/agent/spec.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { findTeamFaults, type Team, teamSchema } from '@gaia-mesh/core/contracts/team.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { checkSpec } from '@gaia-mesh/protocols/registry.ts';
import { engineNames } from '@gaia-mesh/tools/engines/registry.ts';
import { toolNames } from '@gaia-mesh/tools/registry.ts';
import { isNode, LineCounter, parseDocument } from 'yaml';
import * as z from 'zod';
import { scorerNames } from '../scorers/scorer.ts';
import { resolveUserName } from './user-files.ts';

/**
 * Maximum bytes of a team file. The largest of ours has 4 kB, and the work of the YAML reader grows with the
 * square of the keys of a map.
 */
const MAX_TEAM_BYTES = 64 * 1024;

/** Returns the teams that ship with the project, `config/default.yaml` and `config/teams/*.yaml`, by name. */
export function listTeamFiles(): ReadonlyMap<string, string> {
  const config = path.join(codeFolder, 'config');
  const teams = path.join(config, 'teams');
  const files = [
    path.join(config, 'default.yaml'),
    ...readdirSync(teams)
      .filter((name) => name.endsWith('.yaml'))
      .sort()
      .map((name) => path.join(teams, name)),
  ];
  return new Map(
    files.map((file) => [
      /^name:\s*([\w-]+)/m.exec(readFileSync(file, 'utf8'))?.[1] ?? path.basename(file, '.yaml'),
      file,
    ]),
  );
}

/**
 * Loads a team by its name, or from a user's file.
 *
 * @throws MeshError `usage` for an unknown name; `config` with file, line and key for a file that cannot be used
 */
export function loadTeam(nameOrFile: string): Team {
  if (/\.ya?ml$/i.test(nameOrFile)) return readTeam(resolveUserPath(nameOrFile));
  const files = listTeamFiles();
  const file =
    nameOrFile === 'default' ? path.join(codeFolder, 'config', 'default.yaml') : files.get(nameOrFile);
  if (file === undefined) {
    throw new MeshError(
      'usage',
      `unknown team ${JSON.stringify(nameOrFile)}; known: ${[...files.keys()].join(', ')}, or a .yaml file`,
    );
  }
  return readTeam(file);
}

function readTeam(file: string): Team {
  const text = readUserText(file, { what: 'team file', maxBytes: MAX_TEAM_BYTES });
  const lines = new LineCounter();
  // Aliases are not allowed: a few of them, nested, expand to gigabytes.
  const document = parseDocument(text, { lineCounter: lines });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  const [syntax] = document.errors;
  if (syntax !== undefined) throw new MeshError('config', `${at(syntax.pos[0])}: ${syntax.message}`);
  const whereIs = (keys: readonly PropertyKey[]): string => {
    for (let depth = keys.length; depth > 0; depth--) {
      const node: unknown = document.getIn(keys.slice(0, depth), true);
      if (isNode(node) && node.range) return at(node.range[0]);
    }
    return file;
  };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw new MeshError('config', `${file}: ${toErrorMessage(error)}`, { cause: error });
  }
  const fault = (keys: readonly PropertyKey[], message: string): never => {
    const owner = nameAgent(value, keys);
    throw new MeshError(
      'config',
      `${whereIs(keys)}: ${keys.map(String).join('.') || 'team file'}: ${message}${owner}`,
    );
  };
  refuseSeveralTools(value, fault);
  const result = teamSchema.safeParse(value);
  if (!result.success) {
    // A mistyped key is the cause of a missing one.
    for (const { code, path: keys, ...issue } of result.error.issues) {
      if (code !== 'unrecognized_keys' || !('keys' in issue)) continue;
      const [key = ''] = issue.keys;
      const nearest = findNearest(key, listKeys(teamSchema, keys));
      fault(
        [...keys, key],
        `there is no such key${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
      );
    }
    const [issue] = result.error.issues;
    return fault(
      issue?.path ?? [],
      formatIssues(new z.ZodError(issue === undefined ? [] : [{ ...issue, path: [] }])),
    );
  }
  const [broken] = findTeamFaults(result.data);
  if (broken !== undefined) fault(broken.path, broken.message);
  const team = withUserFiles(result.data, path.dirname(file), fault);
  checkNames(team, fault);
  return withPrompts(team, path.dirname(file), fault);
}

/** Lists the keys that the schema knows at a path; empty where any are allowed. */
function listKeys(schema: z.core.$ZodType, keys: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return listKeys(schema.unwrap(), keys);
  const [key, ...rest] = keys;
  if (schema instanceof z.ZodArray) return listKeys(schema.element, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  if (key === undefined) return Object.keys(schema.shape);
  return listKeys(schema.shape[String(key)], rest);
}

/** Returns the word that differs from `wanted` least, in a third of its letters at most. */
function findNearest(wanted: string, words: readonly string[]): string | undefined {
  const near = words
    .map((word) => ({ word, distance: countEdits(wanted, word) }))
    .filter(({ distance }) => distance <= Math.ceil(wanted.length / 3));
  return near.sort((a, b) => a.distance - b.distance)[0]?.word;
}

/** Counts the letters to insert, delete or replace until `a` is `b` (Levenshtein). Keys are cut, as a file may have any. */
function countEdits(a: string, b: string): number {
  const [from, to] = [[...a.slice(0, 40)], [...b.slice(0, 40)]];
  let row = to.map((_, index) => index + 1);
  from.forEach((letter, i) => {
    let left = i + 1;
    let above = i;
    row = to.map((other, j) => {
      const replaced = above + (letter === other ? 0 : 1);
      above = row[j] ?? 0;
      left = Math.min(replaced, above + 1, left + 1);
      return left;
    });
  });
  return row.at(-1) ?? from.length;
}

type Fault = (keys: readonly PropertyKey[], message: string) => never;

/** Checks that each agent has exactly one tool (MP-03). The message names the agent. */
function refuseSeveralTools(value: unknown, fault: Fault): void {
  const agents = readField(value, 'agents');
  if (!Array.isArray(agents)) return;
  agents.forEach((agent: unknown, index) => {
    const tool = readField(agent, 'tool') ?? readField(agent, 'tools');
    if (typeof tool === 'string' && tool !== '') return;
    const count = Array.isArray(tool) ? tool.length : 0;
    fault(
      ['agents', index, ...(tool === undefined ? [] : ['tool'])],
      `an agent has exactly one tool, this one has ${count}: write e.g. \`tool: extract\`, and one agent for each tool`,
    );
  });
}

/** Resolves adapters, tools and engines that are the user's files, relative to the team file. */
function withUserFiles(team: Team, folder: string, fault: Fault): Team {
  const named = (keys: readonly PropertyKey[], kind: UserFile['kind'], text: string): string => {
    try {
      return resolveUserName(kind, text, (name) => path.resolve(folder, name));
    } catch (error) {
      return fault(keys, toErrorMessage(error));
    }
  };
  const agents = team.agents.map((agent, index) => ({
    ...agent,
    tool: named(['agents', index, 'tool'], 'tool', agent.tool),
    ...(agent.engine === undefined
      ? {}
      : { engine: named(['agents', index, 'engine'], 'engine', agent.engine) }),
  }));
  const adapter = named(['adapter'], 'adapter', team.adapter);
  return { ...team, agents, adapter, engine: named(['engine'], 'engine', team.engine) };
}

/** Resolves prompts, which lie beside the team file. */
function withPrompts(team: Team, folder: string, fault: Fault): Team {
  const agents = team.agents.map((agent, index) => {
    if (agent.prompt === undefined) return agent;
    const prompt = path.resolve(folder, agent.prompt);
    if (!existsSync(prompt)) fault(['agents', index, 'prompt'], `there is no file ${prompt}`);
    return { ...agent, prompt };
  });
  return { ...team, agents };
}

function checkNames(team: Team, fault: Fault): void {
  const check = (
    keys: readonly PropertyKey[],
    what: string,
    name: string | undefined,
    known: readonly string[],
  ) => {
    if (name !== undefined && !known.includes(name)) {
      fault(keys, `unknown ${what} ${JSON.stringify(name)}; known: ${known.join(', ')}`);
    }
  };
  try {
    checkSpec(team.adapter);
  } catch (error) {
    fault(['adapter'], toErrorMessage(error));
  }
  check(['engine'], 'engine', team.engine, engineNames);
  check(['scorer'], 'scorer', team.scorer, scorerNames);
  team.agents.forEach((agent, index) => {
    check(['agents', index, 'tool'], 'tool', agent.tool, toolNames);
    check(['agents', index, 'engine'], 'engine', agent.engine, engineNames);
  });
}

function nameAgent(value: unknown, keys: readonly PropertyKey[]): string {
  const [first, index] = keys;
  if (first !== 'agents' || typeof index !== 'number') return '';
  const agents = readField(value, 'agents');
  const id = Array.isArray(agents) ? readField(agents[index], 'id') : undefined;
  return id === undefined ? '' : ` (agent ${String(id)})`;
}

function readField(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && key in value ? Reflect.get(value, key) : undefined;
}
