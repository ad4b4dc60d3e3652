import { describe, expect, test } from 'vitest';
import { finalOf } from '../testing/final-payload.ts';
import { calls, says, textOf } from '../testing/role-model.ts';
import { factsOf, holdPanel as hold, planOf } from './testing/panel.ts';

describe('research', () => {
  test('takes the steps of the plan in order, each with what was found before it (REQ-046, REQ-049)', async () => {
    const { model } = await hold();

    const [first, second] = model.asked('research').map(textOf);
    expect(first).toContain('Your step: find the bird');
    expect(first).toContain('Your step: find the bird');
    expect(first).not.toContain('Already known');
    expect(second).toContain('Your step: find its size');
    expect(second).toContain('Already known:\n- the bird is a heron [a.txt]');
  });

  test('is a loop with tools, chosen by the model (REQ-022, REQ-027, REQ-045, REQ-047)', async () => {
    const { outcome, mesh } = await hold(
      {
        plan: [planOf({ steps: [{ task: 'find all', tool: '', needs_information: true, uses: [] }] })],
        research: [
          calls('read_file', { file: 'a.txt' }),
          calls('read_file', { file: 'b.txt' }, 'a.txt says heron; its size is missing.'),
          factsOf({ fact: 'a heron', source: 'a.txt' }, { fact: '95 cm', source: 'b.txt' }),
        ],
      },
      { files: { 'a.txt': 'It is a heron.', 'b.txt': 'Herons: 95 cm.' } },
    );

    const final = finalOf(outcome);
    expect(final.details.sources).toEqual(['a.txt', 'b.txt']);
    expect(final.reasoning_trace).toContain('It is a heron.');
    expect(final.reasoning_trace).toContain('Herons: 95 cm.');
    expect(mesh.relayed().filter((packet) => packet === 'researcher>read_file read_file.call')).toHaveLength(
      2,
    );
    expect(mesh.sentBy('researcher').at(-1)?.payload.facts).toEqual([
      { fact: 'a heron', source: 'a.txt', found: true, conflict: '' },
      { fact: '95 cm', source: 'b.txt', found: true, conflict: '' },
    ]);
  });

  test('goes on after a tool that failed (REQ-029)', async () => {
    const { outcome } = await hold(
      {
        research: [
          calls('read_file', { file: 'gone.txt' }),
          calls('read_file', { file: 'a.txt' }),
          factsOf({}),
        ],
      },
      { files: { 'a.txt': 'heron' } },
    );

    expect(finalOf(outcome)).toMatchObject({
      answer: 'heron, 95',
      tool_calls: [{ tool: 'read_file', count: 2, failed: 1 }],
    });
  });

  test('flags facts on which sources differ, with the reason for the one that was taken (REQ-048)', async () => {
    const conflict = 'b.txt says 90 cm; a.txt is newer';
    const { model, outcome } = await hold({ research: [factsOf({ fact: '95 cm', conflict })] });

    expect(textOf(model.asked('expert')[0])).toContain(`- 95 cm [a.txt] (sources differ: ${conflict})`);
    expect(finalOf(outcome).reasoning_trace).toContain(`(sources differ: ${conflict})`);
  });

  test('says what it did not find, and the panel goes on (REQ-050)', async () => {
    const { model, outcome } = await hold({
      research: [factsOf({ fact: 'the size of the bird', source: 'searched a.txt', found: false })],
    });

    expect(textOf(model.asked('expert')[0])).toContain('- NOT FOUND: the size of the bird [searched a.txt]');
    expect(finalOf(outcome).details.not_found).toEqual(['the size of the bird', 'the size of the bird']);
  });

  test('that says nothing at all is a fact that was not found, never an invented one (REQ-050)', async () => {
    const { mesh } = await hold({ research: [says('')] });

    expect(mesh.sentBy('researcher')[0]?.payload.facts).toMatchObject([
      { fact: 'find the bird', found: false },
    ]);
  });

  test('whose report has no form is asked for it, and kept as it is when it stays so', async () => {
    const { model, mesh, outcome } = await hold({
      plan: [planOf({ steps: [{ task: 'find all', tool: '', needs_information: true, uses: [] }] })],
      research: [says('It is a heron, says a.txt.')],
    });

    expect(textOf(model.asked('research')[1])).toContain('Your report cannot be used: it is not JSON');
    expect(mesh.sentBy('researcher')[0]?.payload.facts).toMatchObject([
      { fact: 'It is a heron, says a.txt.', found: true },
    ]);
    expect(finalOf(outcome).answer).toBe('heron, 95');
  });
});

describe('the expert', () => {
  test('reasons in a loop from all facts with their sources, and the steps are in the trace (REQ-023, REQ-056, REQ-057, REQ-059)', async () => {
    const text = '1. heron [a.txt]\n2. 95 cm [b.txt]\n3. 95 / 5 = 19\nFINAL ANSWER: 19';
    const { model, outcome } = await hold({
      expert: [calls('calculator', { expression: '95 / 5' }, 'Both facts are there; I divide.'), says(text)],
      finalize: [says('FINAL ANSWER: 19')],
    });

    expect(textOf(model.asked('expert')[0])).toContain(
      '- the bird is a heron [a.txt]\n- a heron is 95 cm long [b.txt]',
    );
    const { reasoning_trace: trace, answer } = finalOf(outcome);
    expect(answer).toBe('19');
    expect(trace).toMatch(
      /expert: Both facts are there; I divide\.\n\d+\. expert: to use calculator\n\d+\. expert: calculator\(\{"expression":"95 \/ 5"\}\) → 19/,
    );
    expect(trace).toContain(text);
  });

  test.each([['What is 15% of 240?', '15 / 100 * 240', '36']])(
    'is given arithmetic and puzzles, and calculates: %s (REQ-011)',
    async (question, expression, answer) => {
      const { outcome } = await hold(
        {
          plan: [planOf({ needs_information: false })],
          expert: ({ messages }, nth) =>
            nth === 0
              ? calls('calculator', { expression })
              : says(`FINAL ANSWER: ${messages.at(-1)?.content}`),
          finalize: [says(`FINAL ANSWER: ${answer}`)],
        },
        {},
        { question },
      );

      const { answer: final, reasoning_trace: trace } = finalOf(outcome);
      expect(final).toBe(answer);
      expect(trace).toContain(`expert: calculator({"expression":"${expression}"}) → ${answer}\n`);
    },
  );
});
