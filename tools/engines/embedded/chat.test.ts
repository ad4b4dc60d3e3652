import type { ChatMessage, ChatRequest, ChatTurn } from '@gaia-mesh/core/contracts/engine.ts';
import { describe, expect, test } from 'vitest';
import { loadPrompt } from '../../prompts.ts';
import { createExtractiveEngine } from '../extractive.ts';
import { renderPrompt } from '../prompt.ts';

const TABLE = `ferries.csv: spreadsheet

| row | A: Year | B: Ship | C: Port | D: Passengers |
| --- | --- | --- | --- | --- |
| 2 | 1901 | Halcyon | Dunnavoe | 1,204 |
| 3 | 1902 | Merrow | Sallow | 860 |
| 4 | 1903 | Petrel | Dunnavoe | 1,950 |
`;
const QUESTION = 'which ship carried the most passengers?';

const work = { signal: new AbortController().signal, countTokens: () => undefined };
const tool = (name: string) => ({ name, description: name, parameters: {} });
const alone = (given: Record<string, string>) =>
  renderPrompt('answer-alone', loadPrompt('answer-alone'), {
    question: QUESTION,
    file: '',
    document: '',
    answer_format: '',
    ...given,
  });
const answerOf = ({ content }: ChatTurn) => content.split('FINAL ANSWER: ')[1];

/** Runs a conversation to its end, with tools that reply by name and file. */
async function converse(
  messages: readonly ChatMessage[],
  replies: Readonly<Record<string, string>>,
  options = {},
): Promise<{ turn: ChatTurn; asked: string[] }> {
  const engine = createExtractiveEngine({ options });
  const asked: string[] = [];
  const said = [...messages];
  const tools = [...new Set(Object.keys(replies).map((key) => key.split(' ')[0] ?? ''))].map(tool);
  for (let turns = 1; turns < 6; turns++) {
    const turn = await engine.chat?.({ messages: said, tools }, work);
    if (turn === undefined) throw new Error('it has a chat');
    if (turn.toolCalls.length === 0) return { turn, asked };
    said.push({ role: 'assistant', content: turn.content, toolCalls: turn.toolCalls });
    for (const { id, name, arguments: given } of turn.toolCalls) {
      const key = `${name} ${typeof given === 'string' ? given : Object.values(given).join()}`;
      asked.push(key);
      said.push({ role: 'tool', toolCallId: id, name, content: replies[key] ?? 'Error: it is gone' });
    }
  }
  throw new Error('it comes to no end');
}

describe('the embedded engine in the seat of a model', () => {
  test('asks for a file that it was not shown, and answers from what the tool says', async () => {
    const { turn, asked } = await converse(alone({ file: 'ferries.csv (table, 90 bytes)' }), {
      'read_file ferries.csv': TABLE,
    });
    expect(asked).toEqual(['read_file ferries.csv']);
    expect(answerOf(turn)).toBe('Petrel');
    expect(turn.confidence).toBeGreaterThan(0.1);
  });

  test('reads a file that its document is, and asks no tool', async () => {
    const { asked } = await converse(alone({ file: 'ferries.csv', document: TABLE }), {
      'read_file ferries.csv': TABLE,
    });
    expect(asked).toEqual([]);
  });

  test('opens an archive member by member: texts, tables, pictures and programs, each by the tool for it', async () => {
    const names = ['notes.txt', 'a.csv', 'sign.png', 'run.py', 'talk.mp3', 'inner.zip', 'gone.txt'];
    const { asked } = await converse(alone({ question: 'Where was the lamp lit?', file: 'b.zip' }), {
      'read_zip b.zip': `b.zip: ZIP archive\n\n${names.map((name) => `${name} (7 bytes)`).join('\n')}\n\nentry "*"`,
      'read_file b.zip/notes.txt': 'notes.txt: text\n\nThe lamp was lit in Dunnavoe.',
      'read_excel b.zip/a.csv': TABLE,
      'analyze_image b.zip/sign.png': 'Text in sign.png (confidence 90 of 100):\nHARBOUR',
      'execute_python_file b.zip/run.py': '42\n',
    });
    expect(asked.toSorted()).toEqual([
      'analyze_image b.zip/sign.png',
      'execute_python_file b.zip/run.py',
      'read_excel b.zip/a.csv',
      'read_file b.zip/gone.txt',
      'read_file b.zip/notes.txt',
      'read_zip b.zip',
    ]);
  });

  test.each([
    ['a.mp3', {}, 'a.mp3 is a recording'],
    ['a.py', {}, 'a.py is a program'],
    ['a.py', { 'execute_python_file a.py': 'Traceback (most recent call last):' }, 'did not run to its end'],
    ['a.csv', { 'read_excel a.csv': 'no table' }, 'a.csv is a table'],
    ['a.zip', { 'read_zip a.zip': 'a.zip: ZIP archive, 0 files' }, 'there is no text to read'],
    [
      'a.png',
      { 'analyze_image a.png': 'not found: no text in a.png.\n\nNo vision model is set' },
      'without words',
    ],
    ['a.txt', { 'read_file b.txt': '' }, 'it is gone'],
  ])('refuses %s and says what stood in the way', async (file, replies, why) => {
    const { turn } = await converse(alone({ file }), replies as Record<string, string>);
    expect(turn).toMatchObject({ finish: 'refused', content: expect.stringContaining(why) });
  });

  test('gives what a program prints, unless the question has a number that the program ignores', async () => {
    const replies = { 'execute_python_file a.py': '42\n' };
    const printed = await converse(alone({ question: 'What does a.py print?', file: 'a.py' }), replies);
    expect(answerOf(printed.turn)).toBe('42');
    const asked = await converse(alone({ question: 'What does it print for n = 7?', file: 'a.py' }), replies);
    expect(asked.turn).toMatchObject({
      finish: 'refused',
      content: expect.stringContaining('ignores 7'),
    });
  });

  test('looks a value up by its name in what a program prints, and names it twice in none', async () => {
    const replies = { 'execute_python_file a.py': 'Total length: 48 km\nLongest leg: 13 km\nLegs: 5\n' };
    const looked = await converse(alone({ question: 'How long is the longest leg?', file: 'a.py' }), replies);
    expect(answerOf(looked.turn)).toBe('13 km');
  });

  test('has a calculation of the question worked out by a calculator, whole or not at all', async () => {
    const replies = { 'calculator 17 * (3 + 4)': '119' };
    const { turn } = await converse(alone({ question: 'What is 17 × (3 + 4)?' }), replies);
    expect(answerOf(turn)).toBe('119');
    const less = await converse(alone({ question: 'What is 17 × (3 + 4), less 2 if it rains?' }), replies);
    expect(less.turn.content).toContain('ignores 2');
  });

  test('repeats what others have come to, where there is nothing to read', async () => {
    const messages = renderPrompt('finalize', loadPrompt('finalize'), {
      question: QUESTION,
      plan: 'read it',
      facts: '',
      answer_format: '',
      conclusion: 'It says so.\n\nFINAL ANSWER: Petrel',
    });
    expect(answerOf((await converse(messages, {})).turn)).toBe('Petrel');
  });

  test('replies with a report of facts where the prompt has its form, in whatever words', async () => {
    const asked = { question: QUESTION, file: 'ferries.csv', document: TABLE };
    const prompt = (system: string, variables: Record<string, string>) =>
      renderPrompt('own', `## system\n${system}\n## user\n{{question}}\n{{file}}\n{{document}}`, {
        ...asked,
        ...variables,
      });
    const report = prompt('Dig. {{report_format}}', { report_format: 'List what you found.' });
    expect(JSON.parse((await converse(report, {})).turn.content)).toMatchObject({
      facts: [{ fact: expect.stringContaining('Petrel') }],
    });
    const answer = await converse(prompt('Never write {"facts": []}.', {}), {});
    expect(answerOf(answer.turn)).toBe('Petrel');
  });

  test('cannot see images and says so', async () => {
    const images = [{ mediaType: 'image/png', base64: '' } as const];
    const messages = [{ role: 'user', content: 'What is it?', images } as const];
    await expect(converse(messages, {})).rejects.toThrow(/cannot see images/);
  });
});

describe('its replies', () => {
  const request: ChatRequest = {
    messages: alone({
      question: 'which port had more than 1,000 passengers?',
      file: 'f.csv',
      document: TABLE,
    }),
  };
  const drawsOf = async (options: object, role = 'alone', asked = request) => {
    const engine = createExtractiveEngine({ options: { threshold: 0.001, ...options } });
    const draws: string[] = [];
    for (let at = 0; at < 30; at++)
      draws.push((await engine.chat?.(asked, { ...work, role }))?.content.split(': ').at(-1) ?? '');
    return draws;
  };

  test('are drawn: the same seed gives the same, another seed or role others, and temperature 0 the most probable', async () => {
    const warm = await drawsOf({ temperature: 3 });
    expect(new Set(warm).size).toBeGreaterThan(1);
    expect(await drawsOf({ temperature: 3 })).toEqual(warm);
    expect(await drawsOf({ temperature: 3, seed: 2 })).not.toEqual(warm);
    expect(await drawsOf({ temperature: 3 }, 'expert')).not.toEqual(warm);
    expect(new Set(await drawsOf({ temperature: 0 })).size).toBe(1);
  });

  test('do not depend on the words of the prompt around the question and what is read', async () => {
    const [system, ...others] = request.messages;
    const reworded = { messages: [{ role: 'system' as const, content: 'In other words.' }, ...others] };

    expect(system?.content).not.toBe('In other words.');
    expect(await drawsOf({ temperature: 3 }, 'alone', reworded)).toEqual(await drawsOf({ temperature: 3 }));
  });

  test('change when an answer was not accepted: it is lowered, whoever gave it', async () => {
    const cold = { temperature: 0, threshold: 0.001 };
    const asked = { question: 'name a ship', file: 'f.csv', document: TABLE };
    const first = (await converse(alone(asked), {}, cold)).turn;
    const again = [
      ...alone(asked),
      { role: 'assistant', content: first.content } as const,
      { role: 'user', content: 'That cannot be right. Try again.' } as const,
    ];
    const second = answerOf((await converse(again, {}, cold)).turn);
    expect(second).not.toBe(answerOf(first));
    const expert = renderPrompt('expert', loadPrompt('expert'), {
      ...asked,
      plan: '',
      facts: '',
      last: first.content,
      feedback: '- rejected',
      answer_format: '',
    });
    expect(answerOf((await converse(expert, {}, cold)).turn)).toBe(second);
  });

  test('are refused where no answer is as probable as the threshold', async () => {
    const { turn } = await converse(request.messages, {}, { threshold: 1 });
    expect(turn).toMatchObject({ finish: 'refused', content: expect.stringContaining('sure enough') });
  });

  test.each([[{ temperature: -1 }], [{ threshold: 2 }], [{ seed: 'x' }]])(
    'cannot be had with %j',
    (options: object) => {
      expect(() => createExtractiveEngine({ options: { ...options } })).toThrow(
        /the engine extractive does not take an option .*: \w+=/,
      );
    },
  );

  test('are refused with the value that was given', () => {
    expect(() => createExtractiveEngine({ options: { temperature: 'hot' } })).toThrow(
      /: temperature="hot": expected number, got string$/,
    );
  });
});
