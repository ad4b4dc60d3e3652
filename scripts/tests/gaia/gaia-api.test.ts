import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  type ScoringScript,
  startScoringServer,
} from '@gaia-mesh/evaluation/batch/testing/scoring-server.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { jsonLines, temporaryFolder } from '../../testing/cli.ts';
import { FACTS, QUESTIONS } from '../../testing/gaia-questions.ts';

async function scoringServer(script: Partial<ScoringScript> = {}) {
  const questions = QUESTIONS.map(({ task_id, Question, Level, file_name }) => ({
    task_id,
    question: Question,
    Level: String(Level),
    file_name,
  }));
  const files = Object.fromEntries(
    Object.entries(FACTS).map(([name, text]) => [name, { name: `${name}.txt`, bytes: Buffer.from(text) }]),
  );
  const truths = Object.fromEntries(QUESTIONS.map((line) => [line.task_id, line['Final answer']]));
  const server = await startScoringServer({ questions, files, truths, ...script });
  onTestFinished(() => server.close());
  return server;
}

describe('gaia on a scoring API', () => {
  test('fetches questions and files, saves the submission, sends it and shows the score (SV-01, SV-02, SV-19, SV-20, RA-01, RA-03, RA-05)', async () => {
    const folder = temporaryFolder();
    const payload = path.join(folder, 'submission_payload.log');
    let wasSaved = false;
    const server = await scoringServer({
      onSubmit: () => {
        wasSaved = existsSync(payload);
      },
    });

    const { code, stdout } = await callCli(
      [
        'gaia',
        '--team',
        'pipeline',
        '--api',
        server.url,
        '--out',
        'a.jsonl',
        '--username',
        'someone',
        '--agent-code',
        'https://example.org/code',
      ],
      { cwd: folder },
    );

    expect(code).toBe(0);
    expect(stdout).toContain('Submitted (pipeline): score 100 %, 3 of 3 correct.');
    expect(wasSaved).toBe(true);
    expect(JSON.parse(readFileSync(payload, 'utf8'))).toEqual(server.submissions[0]);
    expect(server.submissions[0]).toMatchObject({
      username: 'someone',
      agent_code: 'https://example.org/code',
    });
    expect(server.requests[0]).toBe('GET /questions');
    expect(server.requests).toContain('GET /files/bridge');
    const file = path.join(folder, 'a.runs', 'files', 'bridge', 'downloads', 'bridge.txt');
    expect(readFileSync(file, 'utf8')).toBe(FACTS.bridge);
  });

  test('that has no files is gone on with, and one that refuses the answers leaves them saved (RA-04, RA-59, SV-19)', async () => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, 'own'));
    writeFileSync(path.join(folder, 'own', 'lamp.txt'), FACTS.lamp);
    const body = '{"detail":[{"type":"missing","loc":["body","answers"],"msg":"Field required","input":{}}]}';
    const server = await scoringServer({ files: {}, submitFailure: { status: 422, body } });

    const { code, stderr } = await callCli(
      [
        'gaia',
        '--team',
        'pipeline',
        '--api',
        server.url,
        '--files',
        'own',
        '--out',
        'a.jsonl',
        '--submission',
        'sent.json',
      ],
      { cwd: folder },
    );

    expect(code).toBe(1);
    expect(stderr).toContain('bridge: bridge.txt is missing');
    expect(stderr).toContain('HTTP 404: No file path associated with task_id bridge.');
    expect(stderr).toContain('HTTP 422: body.answers: Field required');
    expect(stderr).toContain(`the submission is saved in ${path.join(folder, 'sent.json')}`);
    expect(JSON.parse(readFileSync(path.join(folder, 'sent.json'), 'utf8')).answers).toHaveLength(3);
    expect(jsonLines(path.join(folder, 'a.jsonl'))[0]).toMatchObject({
      task_id: 'lamp',
      final_answer: '3 October 1868',
    });
    // What the folder has is not asked for.
    expect(server.requests).not.toContain('GET /files/lamp');
  });

  test('whose questions are none is named, and nothing is started (RA-02)', async () => {
    const server = await scoringServer({ questions: '{"detail": "starting"}' });
    const folder = temporaryFolder();

    const { code, stderr } = await callCli(['gaia', '--api', server.url, '--out', 'a.jsonl'], {
      cwd: folder,
    });

    expect([code, stderr]).toEqual([2, expect.stringContaining(`${server.url}/questions: `)]);
    expect(readdirSync(folder)).toEqual([]);
  });
});
