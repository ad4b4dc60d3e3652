import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { listTeamFiles, loadTeam } from './load-team.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-team-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function faultOf(load: () => unknown): MeshError {
  try {
    load();
  } catch (error) {
    if (error instanceof MeshError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('a team file', () => {
  const AGENT = '{ id: 0, tool: search }';
  const HEAD = 'version: 1\nname: mine\nfinal: 0\n';

  test.each([
    ['that is no YAML', `${HEAD}agents: [\n`, 5, ''],
    ['with a key that nobody knows', `${HEAD}agents:\n  - { id: 0, tol: search }\n`, 5, 'agents.0'],
    ['with an unknown key at the top', `${HEAD}colour: red\nagents:\n  - ${AGENT}\n`, 4, 'colour'],
    ['of another version', `version: 2\nname: mine\nfinal: 0\nagents:\n  - ${AGENT}\n`, 1, 'version'],
    ['with a tool that nobody knows', `${HEAD}agents:\n  - { id: 0, tool: hammer }\n`, 5, 'search, extract'],
    ['with an agent without a tool', `${HEAD}agents:\n  - { id: fred }\n`, 5, 'agent fred'],
    [
      'with an agent with two tools',
      `${HEAD}agents:\n  - id: fred\n    tool: [search, reason]\n`,
      6,
      'agent fred',
    ],
    [
      'with an agent with tools',
      `${HEAD}agents:\n  - id: fred\n    tools: [search, reason]\n`,
      5,
      'agent fred',
    ],
    [
      'with two agents of one id',
      `${HEAD}agents:\n  - ${AGENT}\n  - ${AGENT}\n`,
      6,
      'agent 0 is there twice',
    ],
    [
      'with two agents whose folders are one on macOS',
      `${HEAD}agents:\n  - { id: Ida, tool: search }\n  - { id: ida, tool: reason }\n`,
      6,
      'agents Ida and ida differ only in case',
    ],
    [
      'with two agents on one port',
      `${HEAD}agents:\n  - { id: 0, tool: search, port: 9100 }\n  - { id: 1, tool: reason, port: 9100 }\n`,
      6,
      'agents 0 and 1 share port 9100',
    ],
    [
      'with a port that another takes by its place',
      `${HEAD}agents:\n  - ${AGENT}\n  - { id: 1, tool: reason, port: 9000 }\n`,
      6,
      'agents 0 and 1 share port 9000',
    ],
    [
      'with a final agent that is not there',
      `version: 1\nname: mine\nfinal: 9\nagents:\n  - ${AGENT}\n`,
      3,
      '9',
    ],
    [
      'with copies of an agent',
      `${HEAD}agents:\n  - { id: 0, tool: search, copies: 2 }\n`,
      5,
      'agents.0.copies: there is no such key',
    ],
    [
      'with a mistyped key, even if another is missing',
      `version: 1\nname: mine\nagents:\n  - { id: 0, tool: search, subscribe: [doc_init] }\n`,
      4,
      'agents.0.subscribe: there is no such key; did you mean subscribes?',
    ],
    [
      'with a place for which there is no port',
      `${HEAD}port_base: 65535\nagents:\n  - ${AGENT}\n  - { id: 1, tool: reason }\n`,
      4,
      'agent 1 would listen on port 65536',
    ],
    ['with an unknown adapter', `${HEAD}adapter: xml\nagents:\n  - ${AGENT}\n`, 4, 'json, msgpack'],
    ['with an unknown engine', `${HEAD}engine: oracle\nagents:\n  - ${AGENT}\n`, 4, 'extractive, ollama'],
    ['with an unknown scorer', `${HEAD}scorer: taste\nagents:\n  - ${AGENT}\n`, 4, 'exact_rouge'],
    ['with an unknown routing', `${HEAD}routing: gossip\nagents:\n  - ${AGENT}\n`, 4, 'broadcast'],
    ['with an id that names no folder', `${HEAD}agents:\n  - { id: ../0, tool: search }\n`, 5, 'agents.0.id'],
    ['with aliases that would expand', `x: &x [1]\ny: [*x, *x]\n${HEAD}agents: []\n`, undefined, ''],
    ['without agents', `${HEAD}agents: []\n`, 4, 'agents'],
    ['that is empty', '', undefined, ''],
  ])('%s is refused with its line and key (MP-03, MP-71)', (_what, text, line, message) => {
    const file = path.join(folder, 'team.yaml');
    writeFileSync(file, text);

    const error = faultOf(() => loadTeam(file));

    expect(error.code).toBe('config');
    expect(error.message).toContain(line === undefined ? file : `${file}:${line}: `);
    expect(error.message).toContain(message);
  });

  test('needs little more than its agents', () => {
    const file = path.join(folder, 'small.yml');
    writeFileSync(file, `${HEAD}agents:\n  - ${AGENT}\n`);

    expect(loadTeam(file)).toMatchObject({
      name: 'mine',
      adapter: 'json',
      engine: 'extractive',
      routing: 'broadcast',
      port_base: 9000,
      final: '0',
      scorer: 'exact_rouge',
      limits: { task_timeout_s: 120 },
      agents: [{ id: '0', tool: 'search' }],
    });
  });

  test('is a path relative to the folder of the user', () => {
    writeFileSync(path.join(folder, 'near.yaml'), `${HEAD}agents:\n  - ${AGENT}\n`);

    vi.stubEnv('INIT_CWD', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(loadTeam('near.yaml').name).toBe('mine');
  });

  test('that is larger than any team is refused unread', () => {
    const file = path.join(folder, 'huge.yaml');
    writeFileSync(file, `# ${'x'.repeat(2 ** 21)}\n${HEAD}agents:\n  - ${AGENT}\n`);

    expect(faultOf(() => loadTeam(file)).message).toContain('larger than');
  });

  test('that is larger than memory is refused unread', () => {
    const file = path.join(folder, 'vast.yaml');
    writeFileSync(file, '');
    truncateSync(file, 3 * 2 ** 30); // It takes no room on the disk.

    expect(faultOf(() => loadTeam(file)).message).toContain('larger than');
  });
});

describe('the teams that ship with the project', () => {
  test.each([...listTeamFiles().keys()])('%s can be loaded by its name', (name) => {
    expect(loadTeam(name)).toMatchObject({ name });
  });

  test('have the default team on ports 9000 to 9003 (MP-14)', () => {
    const team = loadTeam('default');

    expect(team).toMatchObject({ name: 'pipeline', final: '3' });
    expect(team.agents).toEqual([
      { id: '0', tool: 'search', port: 9000 },
      { id: '1', tool: 'extract', port: 9001 },
      { id: '2', tool: 'triple', port: 9002 },
      { id: '3', tool: 'reason', port: 9003 },
    ]);
  });

  test('are listed when a name is not known', () => {
    const error = faultOf(() => loadTeam('dream'));

    expect(error.code).toBe('usage');
    expect(error.message).toContain('pipeline');
  });

  test('name the schema that completes them in an editor', () => {
    const text = readFileSync(path.join(codeFolder, 'config', 'default.yaml'), 'utf8');

    expect(text).toMatch(/^# yaml-language-server: \$schema=\.\/team\.schema\.json/);
  });
});
