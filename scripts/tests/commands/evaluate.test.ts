import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { entry, runCli, temporaryFolder } from '../../testing/cli.ts';
import { taskFile, writtenFile } from '../../testing/team-file.ts';

const PAIRS = [
  { prediction: 'Ada Lovelace', truth: 'Ada Lovelace' },
  { prediction: 'the lovelace, Ada', truth: 'Ada Lovelace', aliases: ['Lovelace Ada'] },
  { prediction: 1843, truth: '1843' },
  { prediction: null, truth: 'Ada Lovelace' },
  { prediction: '', truth: 'Ada Lovelace', aliases: null },
];

/** Scores and returns what was printed, a value a line. */
async function scoresOf(scorer: string, pairs: readonly object[]) {
  const { code, stdout, stderr } = await callCli([
    'evaluate',
    '--scorer',
    scorer,
    '--input',
    taskFile(pairs),
    '--json',
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.endsWith('\n')).toBe(true);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('evaluate', () => {
  test('prints a line a prediction, in order, with exact_rouge', async () => {
    const scores = await scoresOf('exact_rouge', PAIRS);

    expect(scores).toHaveLength(PAIRS.length);
    for (const score of scores)
      expect(Object.keys(score)).toEqual(['exact_match', 'rouge_l', 'quality_score']);
    expect(scores[0]).toEqual({ exact_match: 1, rouge_l: 1, quality_score: 1 });
    expect(scores[3]).toEqual({ exact_match: 0, rouge_l: 0, quality_score: 0 });
    expect(scores[4]).toEqual({ exact_match: 0, rouge_l: 0, quality_score: 0 });
  });

  test('takes the best over the aliases, with squad', async () => {
    const scores = await scoresOf('squad', PAIRS);

    for (const score of scores) expect(Object.keys(score)).toEqual(['normalized_em', 'f1']);
    expect(scores[1]).toEqual({ normalized_em: 1, f1: 1 });
    expect(scores[3]).toEqual({ normalized_em: 0, f1: 0 });
  });

  test('gives bleu from 0 to 100', async () => {
    const scores = await scoresOf('bleu', [
      {
        prediction: 'the lamp was lit on the third of October',
        truth: 'the lamp was lit on the third of October',
      },
      ...PAIRS,
    ]);

    for (const score of scores) expect(Object.keys(score)).toEqual(['bleu']);
    expect(scores[0].bleu).toBeCloseTo(100, 9);
    expect(scores[4]).toEqual({ bleu: 0 });
  });

  test('gives the official verdict with gaia (MP-65)', async () => {
    const scores = await scoresOf('gaia', PAIRS);

    for (const score of scores) expect(Object.keys(score)).toEqual(['correct']);
    expect(scores.map((score) => score.correct)).toEqual([true, false, true, false, false]);
  });

  test('reads standard input, skips empty lines and needs no line end at the end', async () => {
    const { code, stdout } = await runCli(['evaluate', '--scorer', 'gaia', '--input', '-'], {
      stdin: '{"prediction":"a","truth":"A"}\r\n\n{"prediction":"b","truth":"A"}',
    });

    expect(code).toBe(0);
    expect(stdout).toBe('{"correct":true}\n{"correct":false}\n');
  });

  test('ends quietly when nobody reads on', async () => {
    const file = taskFile(Array.from({ length: 20_000 }, () => PAIRS[0] ?? {}));
    const command = '"$0" "$1" evaluate --scorer gaia --input "$2" | head -n 1';

    expect(await runCli(['-c', command, process.execPath, entry, file], { program: 'sh' })).toEqual({
      code: 0,
      signal: null,
      stdout: '{"correct":true}\n',
      stderr: '',
    });
  });

  test('of nothing is refused, because a mean over nothing has no value', async () => {
    expect(await runCli(['evaluate', '--scorer', 'gaia', '--input', '-'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        '--input -: expected at least one line with prediction and truth, got none',
      ),
    });
  });

  test.each([
    ['no JSON', '{"prediction"', 'not JSON'],
    ['no prediction', '{"truth":"a"}', 'prediction'],
    ['no truth', '{"prediction":"a"}', 'truth'],
    ['a truth that is no text', '{"prediction":"a","truth":null}', 'truth'],
  ])('names the line with %s, after the scores of those before it', async (_what, line, message) => {
    const good = '{"prediction":"a","truth":"a"}';
    const file = writtenFile(temporaryFolder(), 'in.jsonl', `${good}\n${line}\n${good}\n`);

    const { code, stdout, stderr } = await callCli(['evaluate', '--scorer', 'gaia', '--input', file]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '{"correct":true}\n' });
    expect(stderr).toContain(`${file}:2: `);
    expect(stderr).toContain(message);
  });

  test('names a file that is missing', async () => {
    const { code, stdout, stderr } = await callCli([
      'evaluate',
      '--scorer',
      'gaia',
      '--input',
      'nowhere.jsonl',
    ]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/nowhere\.jsonl: there is no such file\n$/);
  });

  test('names a folder that was given for a file', async () => {
    const folder = temporaryFolder();

    const { code, stdout, stderr } = await callCli(['evaluate', '--scorer', 'gaia', '--input', folder]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`${folder}: it is a folder`);
  });
});
