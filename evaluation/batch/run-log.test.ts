import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRedactor } from './redact.ts';
import { RunLog } from './run-log.ts';
import { attemptOf, questionOf } from './testing/results.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the log for people has time, symbol, team and question on each line, and is named by its time (RA-55, REQ-068, C-28)', () => {
  const log = new RunLog(folder, (text) => text, new Date('2026-11-21T23:09:41.123Z'));
  const attachment = {
    status: 'placed' as const,
    name: 'x.csv',
    file: '/x.csv',
    bytes: 3,
    sha256: '',
    from: 'api' as const,
  };
  const trace = '1. react: I add them.\n2. react: calculator({"expression":"2+2"}) → 4\nexactly';
  log.event({
    kind: 'asked',
    team: 'react',
    cycle: 1,
    question: questionOf('q1', { level: '2', attachment }),
  });
  log.event({ kind: 'cache', team: 'react', question: questionOf('q1'), isHit: false });
  log.event({ kind: 'finished', attempt: attemptOf('q1', { team: 'react', reasoning_trace: trace }) });
  log.event({ kind: 'cache', team: 'react', question: questionOf('q2'), isHit: true });
  log.event({
    kind: 'finished',
    attempt: attemptOf('q3', {
      cycle: 2,
      status: 'failed',
      correct: false,
      failed_role: 'planner',
      reason: 'no plan',
      cost: null,
    }),
  });
  log.event({ kind: 'kept', attempt: attemptOf('q4', { team: 'react' }) });
  log.close();

  expect(log.file).toBe(path.join(folder, 'agent_run_20261121-230941.log'));
  const lines = readFileSync(log.file, 'utf8').split('\n');
  expect(lines.map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /, ''))).toEqual([
    expect.stringMatching(/^🚀 🚀 run {2}❓ question/),
    '❓ [react q1] level 2: What is q1?',
    '📎 [react q1] x.csv, 3 bytes, from api',
    '💾 [react q1] miss',
    '🧠 [react q1] 1. react: I add them.',
    '🔧 [react q1] 2. react: calculator({"expression":"2+2"}) → 4',
    '    exactly',
    '✅ [react q1] 4; 10 tokens, $0.01, 1 model calls, 0.5 s',
    '💾 [react q2] hit',
    '🧠 [single q3 cycle 2] 1. expert: two and two',
    '🛑 [single q3 cycle 2] failed (planner): no plan; 10 tokens, cost not known, 1 model calls, 0.5 s',
    'ℹ️ [react q4] finished in an earlier run',
    '',
  ]);
});

test('the log has errors with their stack, no keys, and no control characters (RA-56, RA-50)', () => {
  const log = new RunLog(folder, createRedactor({ TAVILY_API_KEY: 'opensesame' }));
  log.error(new Error('HTTP 401 for opensesame'));
  log.event({ kind: 'finished', attempt: attemptOf('q', { final_answer: '\u001b[2Jcleared' }) });
  log.close();

  const text = readFileSync(log.file, 'utf8');
  expect(text).toMatch(/🛑 Error: HTTP 401 for \[redacted\]\n +at .*run-log\.test\.ts/);
  expect(text).not.toContain('opensesame');
  expect(text).not.toContain('\u001b');
});

test('a log that cannot be written says so', () => {
  const file = path.join(folder, 'a-file');
  writeFileSync(file, '');

  expect(() => new RunLog(path.join(file, 'below'), (text) => text)).toThrow(
    expect.objectContaining({ code: 'io' }),
  );
});
