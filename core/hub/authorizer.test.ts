import { expect, test } from 'vitest';
import { CallRights } from './authorizer.ts';
import type { MeshNode } from './link.ts';

const node = (id: string, mayCall?: readonly string[]): MeshNode => ({
  id,
  tool: 'none',
  port: 0,
  secret: '',
  mayCall,
});

function head(from: string, to?: string) {
  return {
    type: 'note',
    from,
    id: `${from}-1`,
    task_id: 't',
    token_used: 0,
    to,
  };
}

const boss = node('boss', ['worker']);
const worker = node('worker', []);

test('an agent addresses those of its list, and nobody else', () => {
  const rights = new CallRights();
  rights.check(boss, head('boss', 'worker'));
  expect(() => rights.check(boss, head('boss', 'other'))).toThrow(
    'boss may not call other (may_call of the team file)',
  );
  rights.check(boss, head('boss'));
  rights.check(node('free'), head('free', 'anybody'));
});

test('whoever was asked may answer each request once', () => {
  const rights = new CallRights();
  const answer = () => rights.check(worker, head('worker', 'boss'));
  expect(answer).toThrow('worker may not call boss');
  rights.check(boss, head('boss', 'worker'));
  rights.check(boss, head('boss', 'worker'));
  answer();
  answer();
  expect(answer).toThrow('worker may not call boss');
  expect(() => rights.check(node('third', []), head('third', 'boss'))).toThrow('third may not call boss');
});
