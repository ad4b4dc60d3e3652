import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../core/packet.ts';
import { cpuMs } from '../../core/testing/cpu-time.ts';
import type { ToolReply } from './solution.ts';
import { solve } from './solve.ts';

/** Tools that say what a test has them say. */
function saying(replies: Readonly<Record<string, ToolReply>>) {
  const asked: { tool: string; args: JsonObject }[] = [];
  const use = async (tool: string, args: JsonObject): Promise<ToolReply> => {
    asked.push({ tool, args });
    return replies[tool] ?? { error: { code: 'tool', message: `${tool} is not there` } };
  };
  return { asked, use };
}

test.each([
  ['data.xlsx', 'read_excel'],
  ['DATA.CSV', 'read_excel'],
  ['paper.pdf', 'read_pdf'],
  ['letter.docx', 'read_docx'],
  ['talk.pptx', 'read_pptx'],
  ['notes.txt', 'read_file'],
  ['notes.md', 'read_file'],
  ['facts.json', 'read_file'],
  ['things.zip', 'read_zip'],
  ['sign.PNG', 'analyze_image'],
  ['script.py', 'execute_python_file'],
])('%s is handed to %s, by its extension without case (SV-14)', async (file, tool) => {
  const { asked, use } = saying({});
  const solution = await solve({ question: 'What is the total?', file }, use);
  expect(asked).toMatchObject([{ tool, args: { file } }]);
  expect(solution.answer).toBeNull();
  expect(solution.reasoning).toContain(`${tool} is not there`);
});

test('a file that no tool is for is named', async () => {
  const { answer, reasoning } = await solve({ question: 'What is this?', file: 'a.xyz' }, saying({}).use);
  expect(answer).toBeNull();
  expect(reasoning).toContain('No tool is known for files like a.xyz');
});

test('what takes a model is said to', async () => {
  const solution = await solve({ question: 'Who painted the ceiling of the old theatre?' }, saying({}).use);
  expect(solution).toMatchObject({ answer: null, kind: 'unknown', steps: [] });
  expect(solution.reasoning).toContain('takes a model');
});

describe('a program', () => {
  const printed = { text: 'warming up\ntotal: 41\nticks: 7\n', data: { status: 'ok', output_bytes: 30 } };
  test.each([
    ['What is the final numeric output?', '7'],
    ['What does the first line of the output say?', 'warming up'],
    ['How many lines are printed?', '3'],
    ['What is the total according to the output?', '41'],
  ])('%s → %s', async (question, answer) => {
    const { use } = saying({ execute_python_file: printed });
    expect(await solve({ question, file: 'a.py' }, use)).toMatchObject({ kind: 'program', answer });
  });

  test('that ends with an error is asked about by its name, and is no answer otherwise', async () => {
    const data = { status: 'error', error: 'ZeroDivisionError: division by zero' };
    const { use } = saying({ execute_python_file: { text: 'Traceback …', data } });
    expect((await solve({ question: 'Which exception does it raise?', file: 'a.py' }, use)).answer).toBe(
      'ZeroDivisionError',
    );
    expect((await solve({ question: 'What does it print?', file: 'a.py' }, use)).answer).toBeNull();
  });

  test('is called where the question names a function that it defines', async () => {
    const { asked, use } = saying({
      read_file: { text: './a.py: text\n\ndef twice(n):\n    return 2 * n\n' },
      python_repl: { text: '\nthe value that is asked for: 14\n' },
    });
    expect((await solve({ question: 'What does twice(7) return?', file: 'a.py' }, use)).answer).toBe('14');
    expect(asked[1]?.args.code).toContain('twice(7)');
  });
});

describe('a document', () => {
  const text =
    './a.txt: text, utf-8\n\nThe mill was built in 1911 by Orla Finch. It has four floors.\n\nFlour: 30 sacks\n';
  test.each([
    ['Who built the mill?', 'Orla Finch'],
    ['How many times does the word "mill" occur?', '1'],
    ['How many sacks of flour are there?', '30'],
  ])('%s → %s', async (question, answer) => {
    const { use } = saying({ read_file: { text } });
    expect(await solve({ question, file: 'a.txt' }, use)).toMatchObject({ kind: 'document', answer });
  });

  test('may be part of the prompt', async () => {
    const context = 'The mill was built in 1911 by Orla Finch.';
    const { asked, use } = saying({});
    expect((await solve({ question: 'Who built the mill?', context }, use)).answer).toBe('Orla Finch');
    expect(asked).toEqual([]);
  });

  test('is searched for who does what by the noun of the verb', async () => {
    const { use } = saying({
      read_file: { text: 'a\n\nWe heard Ida Brook sing. The conductor is Per Strand, who came late.' },
    });
    expect((await solve({ question: 'Who conducts the choir?', file: 'a.txt' }, use)).answer).toBe(
      'Per Strand',
    );
  });
});

describe('JSON', () => {
  const text =
    'facts.json: text\n\n{"ship": {"name": "Petrel", "mass_kg": 1840}, "crew": [{"name": "Ada", "role": "pilot"}, {"name": "Bo", "role": "cook"}]}';
  test.each([
    ['What is the mass of the ship?', '1840'],
    ['Who is the cook?', 'Bo'],
    ['How many crew members are listed?', '2'],
  ])('%s → %s', async (question, answer) => {
    const { use } = saying({ read_file: { text } });
    expect((await solve({ question, file: 'facts.json' }, use)).answer).toBe(answer);
  });

  test('that is broken is said to be', async () => {
    const { use } = saying({ read_file: { text: 'a.json: text\n\n{"a": ' } });
    expect(await solve({ question: 'What is a?', file: 'a.json' }, use)).toMatchObject({ answer: null });
  });
});

test('an archive is listed, and its member that holds the data is read', async () => {
  const asked: JsonObject[] = [];
  const use = async (_: string, args: JsonObject): Promise<ToolReply> => {
    asked.push(args);
    if (args.entry === undefined)
      return { text: '', data: { entries: [{ name: 'README.txt' }, { name: 'crops.csv' }] } };
    return {
      text: '',
      data: {
        sheets: [
          {
            name: 'CSV',
            columns: ['crop', 'tons'],
            rows: [
              ['rye', '4'],
              ['oats', '9'],
            ],
          },
        ],
      },
    };
  };
  const { answer } = await solve({ question: 'Which crop has the most tons?', file: 'farm.zip' }, use);
  expect(answer).toBe('oats');
  expect(asked).toEqual([{ file: 'farm.zip' }, { file: 'farm.zip', entry: 'crops.csv' }]);
});

describe('an image', () => {
  test('is answered from the text that is recognised in it', async () => {
    const { use } = saying({
      analyze_image: { text: '', data: { text: 'Fish shop\nOpen from 9\nTotal 15.80', confidence: 91 } },
    });
    expect((await solve({ question: 'What is the total?', file: 'a.png' }, use)).answer).toBe('15.80');
  });

  test('without text, or about what is to be seen, takes a vision model', async () => {
    const blank = saying({ analyze_image: { text: '', data: { text: '', confidence: 0 } } });
    expect((await solve({ question: 'What is the total?', file: 'a.png' }, blank.use)).answer).toBeNull();
    const sign = saying({ analyze_image: { text: '', data: { text: 'Total 15.80', confidence: 91 } } });
    const { answer, reasoning } = await solve(
      { question: 'What colour is the sign?', file: 'a.png' },
      sign.use,
    );
    expect(answer).toBeNull();
    expect(reasoning).toContain('vision model');
  });

  test('may have been looked at by a model already', async () => {
    const { use } = saying({ analyze_image: { text: 'FINAL ANSWER: red' } });
    expect((await solve({ question: 'What colour is the sign?', file: 'a.png' }, use)).answer).toBe('red');
  });
});

describe('chess', () => {
  const position = '6k1/5ppp/8/8/8/5n2/r7/7K';
  test('who moves may be said in words, and the best move is the answer', async () => {
    const { asked, use } = saying({
      analyze_chess: { text: '', data: { best_move: 'Rh2#', mate_in: 1, is_check: false } },
    });
    const solution = await solve({ question: `Black to move: ${position}. What is the winning move?` }, use);
    expect(solution).toMatchObject({ kind: 'chess', answer: 'Rh2#' });
    expect(asked).toEqual([{ tool: 'analyze_chess', args: { fen: `${position} b - - 0 1` } }]);
    expect((await solve({ question: `Is White in check in ${position} w - - 0 1?` }, use)).answer).toBe('No');
  });

  test('pieces are counted without a tool', async () => {
    const { asked, use } = saying({});
    expect(
      (await solve({ question: `How many black pawns are on the board in ${position} b - - 0 1?` }, use))
        .answer,
    ).toBe('3');
    expect(asked).toEqual([]);
  });
});

test('a riddle in a riddle is solved step by step (REQ-059)', async () => {
  const { asked, use } = saying({ calculator: { text: '117', data: { value: 117 } } });
  const solution = await solve({ question: '?neetriht semit enin si tahW' }, use);
  expect(solution.answer).toBe('117');
  expect(solution.reasoning).toContain('What is nine times thirteen?');
  expect(asked).toEqual([{ tool: 'calculator', args: { expression: '9 * 13' } }]);
});

test('the same question takes the same steps', async () => {
  const { use } = saying({ calculator: { text: '434', data: { value: 434 } } });
  const problem = { question: 'What is 17.5% of 2,480?' };
  expect(await solve(problem, use)).toEqual(await solve(problem, use));
});

test('a question of any words comes to an end in time, and without a fault', async () => {
  const words =
    'how many of the what is which sum difference between 3 7,000 12.5% $4 km per hour letter word "fog" backwards ( ) * / ^ and then add ' +
    'multiply it by each more than before 2020 March highest second Oslo prime digits root base binary FINAL : ? . , not excluding total';
  const soup = fc
    .array(fc.constantFrom(...words.split(' ')), { maxLength: 120 })
    .map((list) => list.join(' '));
  const sheets = [{ name: 'S', columns: ['Town', 'Date', 'Height (m)'], rows: [['Oslo', '2020-03-01', 3]] }];
  const { use } = saying({
    read_excel: { text: '', data: { sheets } },
    read_file: { text: 'a\n\nOslo is a town. It has 3 letters fog.' },
    calculator: { text: '1', data: { value: 1 } },
    python_repl: { text: '1' },
  });
  await fc.assert(
    fc.asyncProperty(soup, fc.constantFrom('', 'a.xlsx', 'a.txt'), async (question, file) => {
      const startMs = cpuMs();
      const { answer } = await solve({ question, file }, use);
      expect(answer === null || answer !== '').toBe(true);
      expect(cpuMs() - startMs).toBeLessThan(3_000);
    }),
    { numRuns: 150 },
  );
});
