import { describe, expect, test } from 'vitest';
import { ANSWER_FORMAT } from '../../answers/answer-format.ts';
import { finalOf } from '../testing/final-payload.ts';
import { says, textOf } from '../testing/role-model.ts';
import { startTeamMesh } from '../testing/team-mesh.ts';
import { holdPanel as hold, PANEL } from './testing/panel.ts';

describe('the panel', () => {
  test('plans, researches, reasons and finalizes in this order, each piece judged, all by packets (REQ-002, REQ-004, REQ-005, REQ-061)', async () => {
    const { mesh, outcome } = await hold();

    const final = finalOf(outcome);
    expect(final.answer).toBe('heron, 95');
    const asked = mesh.relayed().filter((packet) => packet.startsWith('runner>'));
    expect(asked).toEqual([
      'runner>planner plan.call',
      'runner>critic critique.call',
      'runner>researcher research.call',
      'runner>researcher research.call',
      'runner>critic critique.call',
      'runner>expert expert.call',
      'runner>critic critique.call',
      'runner>finalizer finalize.call',
      'runner>* data_event',
    ]);
    expect(mesh.refused).toEqual([]);
    // Every role took part, as its texts show.
    for (const role of ['plan', 'research', 'expert', 'critique', 'finalize']) {
      expect(final.reasoning_trace).toContain(`. ${role}: `);
    }
    expect(final.reasoning_trace).toContain('accepts the expert’s work (quality 9, relevance 9)');
  });

  test('has a prompt of its own for each role, and a form of its own for what each replies (REQ-003, REQ-013 to REQ-017)', async () => {
    const { model } = await hold();

    const roles = ['plan', 'research', 'expert', 'critique', 'finalize'] as const;
    const systems = roles.map((role) => model.asked(role)[0]?.messages[0]?.content);
    expect(new Set(systems).size).toBe(5);
    expect(Object.keys(Object(model.asked('plan')[0]?.schema?.properties))).toContain('steps');
    expect(Object.keys(Object(model.asked('critique')[0]?.schema?.properties))).toContain('quality');
    // Only roles that look something up or calculate have tools.
    expect(roles.map((role) => model.asked(role)[0]?.tools.map(({ name }) => name))).toEqual([
      [],
      ['list_files', 'read_file'],
      ['calculator', 'read_file'],
      [],
      [],
    ]);
  });

  test('gives the planner what the file says, and the researcher its name (REQ-012, REQ-053)', async () => {
    const { model } = await hold({}, {}, { chunks: ['Heron: ', '95 cm'], file_name: 'birds.csv' });

    expect(textOf(model.asked('plan')[0])).toContain(
      'Attached file: birds.csv\n\nWhat it says:\nHeron: 95 cm',
    );
    expect(textOf(model.asked('research')[0])).toContain('Attached file: birds.csv');
    expect(textOf(model.asked('expert')[0])).toContain('What it says:\nHeron: 95 cm');
  });

  test('gives the finalizer plan, facts and conclusion, and the form of the answer (REQ-039, REQ-040)', async () => {
    const { model } = await hold();

    const prompt = textOf(model.asked('finalize')[0]);
    for (const part of [
      'look both up, then compare',
      '- the bird is a heron [a.txt]',
      '- a heron is 95 cm long [b.txt]',
      '1. a.txt says heron.',
      ANSWER_FORMAT,
    ]) {
      expect(prompt).toContain(part);
    }
  });

  test('reads a file without a model, and researches nothing else', async () => {
    const files = { 'mill.txt': 'The mill was built in 1911 by Orla Finch. It has four floors.' };
    const mesh = await startTeamMesh({ agents: PANEL, files });

    const final = finalOf(await mesh.ask({ question: 'Who built the mill?', file_name: 'mill.txt' }));

    expect(final.answer).toBe('Orla Finch');
    expect(final.reasoning_trace).toContain('expert: The text says: “The mill was built in 1911');
    expect(mesh.relayed().filter((packet) => packet.startsWith('runner>researcher'))).toEqual([]);
  });

  test('without a model draws its answers, and its critic has an improbable one given again', async () => {
    const document =
      '| row | A: Year | B: Ship |\n| --- | --- | --- |\n| 2 | 1901 | Halcyon |\n| 3 | 1902 | Merrow |\n';
    const asked = { question: 'name a ship', file_name: 'a.csv', chunks: [document] };
    const held = async (seed: number) => {
      const mesh = await startTeamMesh({
        agents: PANEL,
        engineOptions: { temperature: 3, seed, threshold: 0.01 },
      });
      return finalOf(await mesh.ask(asked));
    };
    const finals = await Promise.all([1, 2, 3, 4, 5, 6].map(held));
    // The critic accepts an answer, whichever was drawn first, only if it is at least six tenths as probable as the best.
    expect(new Set(finals.map(({ answer }) => answer))).toEqual(new Set(['Halcyon']));
    const rejected = finals.filter(({ reasoning_trace }) =>
      reasoning_trace.includes('rejects the expert’s work'),
    );
    expect(rejected.length).toBeGreaterThan(0);
  });

  test('says so where it takes a model, instead of passing its reasons off as an answer (RA-12)', async () => {
    const mesh = await startTeamMesh({ agents: PANEL });

    const final = finalOf(await mesh.ask({ question: 'Who wrote it?' }));

    expect(final).toMatchObject({
      answer: 'No answer was found.',
      details: { not_found: ['Who wrote it?'] },
    });
  });
});

describe('the final answer', () => {
  test('of a finalizer that says nothing is the expert’s, and the trace says so (REQ-065, REQ-069g)', async () => {
    const { model, outcome } = await hold({ finalize: [says('FINAL ANSWER:')] });

    expect(finalOf(outcome).answer).toBe('heron, 95');
    expect(finalOf(outcome).reasoning_trace).toContain('the finalizer gave no answer: the expert’s stands');
    expect(model.asked('finalize')).toHaveLength(1);
  });

  test('that is another than the critic accepted says so in the trace (REQ-061)', async () => {
    const { outcome } = await hold({ finalize: [says('FINAL ANSWER: Heron; 95 cm')] });

    expect(finalOf(outcome).reasoning_trace).toContain(
      'the critic accepted the conclusion “heron, 95”; the finalizer’s form of it is “Heron; 95 cm”',
    );
  });

  test('has the form that the finalizer gave it, whatever the question’s words are (REQ-040, REQ-065)', async () => {
    const { outcome } = await hold(
      { expert: [says('FINAL ANSWER: 1,234 herons')], finalize: [says('FINAL ANSWER: **1,234**.')] },
      {},
      { question: 'How many herons are there?' },
    );

    expect(finalOf(outcome)).toMatchObject({ answer: '1,234', raw_answer: 'FINAL ANSWER: **1,234**.' });
  });
});
