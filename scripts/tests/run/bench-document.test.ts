import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { runCli, temporaryFolder } from '../../testing/cli.ts';
import { RawAgent } from '../../testing/raw-agent.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

/** `bench` on the user's own document, with one agent of the test's own that answers `yes`. */
async function benchOf(args: readonly string[], cwd = temporaryFolder()) {
  const out = temporaryFolder();
  const agent = await RawAgent.listen({
    id: '3',
    tool: 'reason',
    onPacket: (packet, self) => self.answer(packet, 'yes'),
  });
  const team = teamFile({ final: 3, agents: [agent.entry] });
  const result = await callCli(['bench', '--team', team, '--external', '3', '--out', out, ...args], { cwd });
  return { ...result, out, payload: agent.received[0]?.payload };
}

describe('the user’s own document', () => {
  test('is found from the folder that the command was typed in, and scored with --answer', async () => {
    const cwd = temporaryFolder();
    writtenFile(cwd, 'note.md', '# Note\n\nIt is 🏁.');

    const { code, out, payload } = await benchOf(
      ['--document', 'note.md', '--question', 'Is it?', '--answer', 'Yes'],
      cwd,
    );

    expect(code).toBe(0);
    expect(payload).toEqual({ question: 'Is it?', chunks: ['# Note\n\nIt is 🏁.'] });
    expect(readMetrics(out)).toMatchObject({
      answer: 'yes',
      exact_match: 0,
      normalized_em: 1,
      quality_score: 0.5,
    });
  });

  test('is found from that folder under npm, too, which runs its scripts in the project’s', async () => {
    const cwd = temporaryFolder();
    const args = ['--prefix', codeFolder, 'run', '-s', 'bench', '--', '--document', 'nowhere.txt'];

    const { code, stderr } = await runCli([...args, '--question', 'Is it?'], { program: 'npm', cwd });

    expect(code).toBe(2);
    expect(stderr).toContain(path.join(cwd, 'nowhere.txt'));
  });

  test('is not scored without a truth', async () => {
    const file = writtenFile(temporaryFolder(), 'note.txt', 'It is.');

    const { code, out } = await benchOf(['--document', file, '--question', 'Is it?']);

    expect(code).toBe(0);
    expect(readMetrics(out)).toMatchObject({
      answer: 'yes',
      exact_match: null,
      quality_score: null,
      f1: null,
    });
  });

  test('is scored by a ground_truth.json beside it', async () => {
    const folder = temporaryFolder();
    const file = writtenFile(folder, 'note.txt', 'It is.');
    writtenFile(folder, 'ground_truth.json', '{"answer": "yes"}');

    const { out } = await benchOf(['--document', file, '--question', 'Is it?']);

    expect(readMetrics(out)).toMatchObject({ exact_match: 1, quality_score: 1 });
  });

  test('is answered and not scored when its ground_truth.json cannot be used (MP-61)', async () => {
    const folder = temporaryFolder();
    const file = writtenFile(folder, 'note.txt', 'It is.');
    const truth = writtenFile(folder, 'ground_truth.json', '{"answer": ');

    const { code, out, stderr } = await benchOf(['--document', file, '--question', 'Is it?']);

    expect(code).toBe(0);
    expect(stderr).toContain(`${truth}: not JSON`);
    expect(stderr).toContain('not scored');
    expect(readMetrics(out)).toMatchObject({ answer: 'yes', quality_score: null });
  });

  test('comes in chunks of 400 characters, none of which breaks a character', async () => {
    const text = `${'a'.repeat(399)}🏁${'é'.repeat(400)}z`;
    const file = writtenFile(temporaryFolder(), 'note.txt', text);

    const { payload } = await benchOf(['--document', file, '--question', 'Is it?']);

    expect(payload?.chunks).toEqual([`${'a'.repeat(399)}🏁`, 'é'.repeat(400), 'z']);
  });

  test.each([
    ['is missing', (folder: string) => path.join(folder, 'nowhere.txt'), 'there is no such file'],
    ['is empty', (folder: string) => writtenFile(folder, 'a.txt', ' \n'), 'it is empty'],
    [
      'is binary',
      (folder: string) => writtenFile(folder, 'a.txt', Buffer.from([65, 0, 66])),
      'this is no text',
    ],
    [
      'is not UTF-8',
      (folder: string) => writtenFile(folder, 'a.txt', Buffer.from([0xe9, 65])),
      'not UTF-8 text',
    ],
    [
      'is a folder',
      (folder: string) => {
        mkdirSync(path.join(folder, 'a'));
        return path.join(folder, 'a');
      },
      'it is a folder',
    ],
  ])('that %s is named, with 2', async (_what, make, message) => {
    const file = make(temporaryFolder());

    const { code, stdout, stderr } = await benchOf(['--document', file, '--question', 'Is it?']);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(file);
    expect(stderr).toContain(message);
  });

  test.each([
    [['--document', 'note.txt'], '--question'],
    [['--document', 'note.txt', '--question', '  '], '--question'],
    [['--answer', 'yes'], '--document'],
    [['--document', 'note.txt', '--question', 'q', '--tasks', 'tasks.jsonl'], 'choose one of'],
    [['--limit', '3'], '--tasks'],
    [['--tasks', 'tasks.jsonl', '--question', 'q'], '--question'],
    [['--task', 'no-such-task'], 'cairn-astel-light'],
  ])('with %j is refused, with 2', async (args, message) => {
    const cwd = temporaryFolder();
    writtenFile(cwd, 'note.txt', 'It is.');
    writtenFile(cwd, 'tasks.jsonl', '{"task_id":"a","question":"q","document":"d"}');

    const { code, stdout, stderr } = await benchOf(args, cwd);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
