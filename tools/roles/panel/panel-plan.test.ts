import { describe, expect, test } from 'vitest';
import { noServices, type ToolServices } from '../../tool-services.ts';
import { finalOf } from '../testing/final-payload.ts';
import { says, textOf } from '../testing/role-model.ts';
import { startTeamMesh } from '../testing/team-mesh.ts';
import { holdPanel as hold, PANEL, planOf } from './testing/panel.ts';

describe('the plan', () => {
  test('lists parts, strategy and steps, and they are in the trace (REQ-008, REQ-009, REQ-018, REQ-019)', async () => {
    const { mesh, outcome } = await hold();

    expect(mesh.sentBy('planner')[0]?.payload).toMatchObject({
      sub_problems: ['which bird', 'how large it is'],
      strategy: 'look both up, then compare',
      question_type: 'lookup',
      steps: [
        { task: 'find the bird', needs_information: true },
        { task: 'find its size', needs_information: true },
        { task: 'compare', needs_information: false },
      ],
    });
    expect(finalOf(outcome).reasoning_trace).toContain(
      'plan: look both up, then compare — (1) find the bird (2) find its size (3) compare',
    );
  });

  test('that needs no information leaves the researcher alone (REQ-020)', async () => {
    const { model, outcome } = await hold({
      plan: [planOf({ needs_information: false })],
      // A caller gets an error.
      research: [{ status: 400 }],
    });

    expect(finalOf(outcome).answer).toBe('heron, 95');
    expect(model.asked('research')).toEqual([]);
    expect(finalOf(outcome).reasoning_trace).toContain('the researcher is not asked');
  });

  test('that needs information and says of no step that it does has all of them researched (REQ-020)', async () => {
    const steps = [{ task: 'find all', tool: '', needs_information: false, uses: [] }];
    const { model } = await hold({ plan: [planOf({ steps })] });

    expect(model.asked('research')).toHaveLength(1);
  });

  test('is made with the tools of other people’s servers in sight, where the runner may ask for them', async () => {
    const asked: string[] = [];
    const services: ToolServices = {
      ...noServices,
      connectMcp: async () => ({
        name: 'birds',
        tools: [{ name: 'find', description: 'Finds a bird by its size', inputSchema: { type: 'object' } }],
        refused: [],
        async call(tool) {
          asked.push(tool);
          return { texts: [], images: [], isError: false, lost: [] };
        },
        close: async () => undefined,
      }),
    };
    const files = { id: 'birds', tool: 'mcp', options: { command: 'x' } };
    const agentsWith = (runner: boolean) => [
      ...PANEL.map(({ may_call = [], ...agent }) => ({
        ...agent,
        may_call:
          agent.id === 'researcher' || (runner && agent.id === 'runner') ? [...may_call, 'birds'] : may_call,
      })),
      files,
    ];
    const told = async (runner: boolean) => {
      const { model } = await hold({}, { agents: agentsWith(runner), services });
      return model.asked('plan').map((request) => textOf(request))[0];
    };

    expect(await told(true)).toContain('- birds_find: Finds a bird by its size');
    expect(await told(false)).not.toContain('birds_find');
    expect(asked).toEqual([]);
  });

  test('and its judgements may be written loosely: no role is asked twice for its form', async () => {
    const { model, outcome } = await hold({
      plan: [
        says(
          'Here it is:\n{"Steps": ["find the bird", "compare"], "needs_information": "false", "failure_modes": null, "alternatives": "none"}',
        ),
      ],
      critique: [
        says(
          '{"quality": "8/10", "relevance": "high", "missing": "Nothing is missing.", "weaknesses": null}',
        ),
      ],
    });

    expect(finalOf(outcome).answer).toBe('heron, 95');
    expect(model.order()).toEqual(['plan', 'critique', 'expert', 'critique', 'finalize']);
    expect(textOf(model.asked('expert')[0])).toContain('1. find the bird');
  });

  test('in which a step uses a later one is refused, and made again (REQ-021)', async () => {
    const steps = [
      { task: 'compare', tool: '', needs_information: false, uses: [2] },
      { task: 'find', tool: '', needs_information: true, uses: [] },
    ];
    const { model, outcome } = await hold({ plan: [planOf({ steps }), planOf()] });

    expect(finalOf(outcome).answer).toBe('heron, 95');
    expect(textOf(model.asked('plan')[1])).toContain('step 1 uses step 2, which does not come before it');
  });

  test('without a model has a part for each thing that is asked, and a strategy by the attached file (REQ-008, REQ-009)', async () => {
    const plans: unknown[] = [];
    const questions = [
      { question: 'Who built the mill? When did it burn?', file_name: 'mill.txt' },
      { question: 'Who wrote the novel?' },
    ];
    for (const payload of questions) {
      const mesh = await startTeamMesh({ agents: PANEL });
      await mesh.ask(payload);
      plans.push(mesh.sentBy('planner')[0]?.payload);
    }

    expect(plans).toMatchObject([
      {
        question_type: 'text',
        sub_problems: ['Who built the mill?', 'When did it burn?'],
        needs_information: false,
      },
      { question_type: 'no-file', sub_problems: ['Who wrote the novel?'], needs_information: true },
    ]);
    expect(new Set(plans.map((plan) => Object(plan).strategy)).size).toBe(2);
  });

  test('with another way has both in the trace, and their comparison (REQ-010)', async () => {
    const { outcome } = await hold({
      plan: [planOf({ alternatives: ['count them in the picture'] })],
      expert: [
        says('1. By the list: 3.\n2. By the picture: 3.\nCOMPARISON: both ways agree.\nFINAL ANSWER: 3'),
      ],
      finalize: [says('FINAL ANSWER: 3')],
    });

    const { reasoning_trace: trace } = finalOf(outcome);
    expect(trace).toContain('another way: count them in the picture');
    expect(trace).toContain('COMPARISON: both ways agree.');
    expect(trace).not.toContain('did not compare');
  });

  test('with another way that nobody went says so in the trace (REQ-010)', async () => {
    const { outcome } = await hold({ plan: [planOf({ alternatives: ['count them'] })] });

    expect(finalOf(outcome).reasoning_trace).toContain('the expert did not compare the two');
  });

  test('that finds contradictory premises reports them (REQ-060)', async () => {
    const { outcome } = await hold({
      plan: [planOf({ contradictions: ['it was built in 1900 and torn down in 1890'] })],
      expert: [says('CONTRADICTION: the list has no third bird.\nFINAL ANSWER: none')],
      finalize: [says('FINAL ANSWER: none')],
    });

    const final = finalOf(outcome);
    expect(final.details.contradictions).toEqual([
      'it was built in 1900 and torn down in 1890',
      'the list has no third bird.',
    ]);
    expect(final.reasoning_trace).toContain('the question contradicts itself: it was built in 1900');
  });
});
