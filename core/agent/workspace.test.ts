import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Workspace } from './workspace.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-workspace-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const opened = (directory = folder) => new Workspace(directory, { id: '2', tool: 'triple', engine: 'none' });
const memory = () => JSON.parse(readFileSync(path.join(folder, 'memory.json'), 'utf8'));
const lines = (name: string) =>
  readFileSync(path.join(folder, name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('a workspace', () => {
  test('is made with its parents, its log and its memory (MP-50)', () => {
    folder = path.join(folder, 'workspaces', '2');
    opened().close();

    expect(readdirSync(folder).sort()).toEqual(['agent.log', 'memory.json']);
    expect(memory()).toEqual({
      node_id: '2',
      tool: 'triple',
      engine: 'none',
      packets_received: 0,
      packets_sent: 0,
      token_used: 0,
      tasks: [],
    });
    folder = path.dirname(path.dirname(folder));
  });

  test('keeps a tool’s records as JSON lines, unicode as it is (MP-54)', () => {
    const workspace = opened();
    workspace.record('reason.log', { answer: 'Zoë 🏁' });
    workspace.record('reason.log', { answer: 'b' });
    workspace.close();

    expect(lines('reason.log').map((line) => line.answer)).toEqual(['Zoë 🏁', 'b']);
    expect(readFileSync(path.join(folder, 'reason.log'), 'utf8')).toContain('Zoë 🏁');
  });

  test.each(['../other/agent.log', '/etc/passwd', 'sub/file', '.hidden', '..', ''])(
    'takes no record under the name %j',
    (name) => {
      const workspace = opened();

      expect(() => workspace.record(name, {})).toThrow('plain file name');
      workspace.close();
    },
  );

  test('remembers the last hundred tasks, and the sums of all', () => {
    const workspace = opened();
    for (let i = 0; i < 101; i++) workspace.remember(`t-${i}`, 'triples', 2);
    workspace.close();

    expect(memory()).toMatchObject({ packets_sent: 101, token_used: 202 });
    expect(memory().tasks).toHaveLength(100);
    expect(memory().tasks[0]).toEqual({ task_id: 't-1', sent: 'triples', token_used: 2 });
  });

  test('goes on with the log that is there', () => {
    for (const message of ['first', 'second']) {
      const workspace = opened();
      workspace.log.info({ message });
      workspace.close();
    }

    expect(lines('agent.log').map((line) => line.message)).toEqual(['first', 'second']);
  });

  test('may be closed twice', () => {
    const workspace = opened();
    workspace.close();

    expect(() => workspace.close()).not.toThrow();
  });

  test.each([
    ['whole', undefined, { packets_sent: 1, token_used: 2, restarts: 1 }],
    ['cut', '{"node_id": "2", "to', { packets_sent: 0, token_used: 0, restarts: 1 }],
    ['another thing', '{"restarts": -1}', { packets_sent: 0, token_used: 0, restarts: 1 }],
  ])('is resumed with the memory that a dead agent left, if that is there: %s', (_what, left, expected) => {
    const before = opened();
    before.remember('t', 'triples', 2);
    before.close();
    if (left !== undefined) writeFileSync(path.join(folder, 'memory.json'), left);
    const identity = { id: '2', tool: 'triple', engine: 'none' };

    new Workspace(folder, identity, { resumes: true }).close();
    expect(memory()).toMatchObject({ node_id: '2', ...expected });

    new Workspace(folder, identity, { resumes: true }).close();
    expect(memory()).toMatchObject({ restarts: 2 });
  });

  test('is begun anew by an agent that does not resume', () => {
    new Workspace(folder, { id: '2', tool: 'triple', engine: 'none' }, { resumes: true }).close();
    opened().close();

    expect(memory()).not.toHaveProperty('restarts');
  });
});
