import { describe, expect, test } from 'vitest';
import { finalOf } from '../testing/final-payload.ts';
import { says, startRoleModel, textOf } from '../testing/role-model.ts';
import { startTeamMesh } from '../testing/team-mesh.ts';
import { factsOf, PANEL, planOf, verdict } from './testing/panel.ts';

type Script = Parameters<typeof startRoleModel>[0];
const STEPS = { steps: [{ task: 'find it', tool: '', needs_information: true, uses: [] }] };

/** Creates a critic that rejects each role's work as many times in a row as `rejections` says. */
function criticOf(rejections: Readonly<Record<string, number>>): NonNullable<Script['critique']> {
  const left = new Map(Object.entries(rejections));
  return (request) => {
    const role = /the work of one role of a team, the (\w+),/.exec(textOf(request))?.[1] ?? '';
    const rest = left.get(role) ?? 0;
    left.set(role, rest - 1);
    return verdict(rest > 0 ? 3 : 9);
  };
}

async function hold(change: Script, options: Partial<Parameters<typeof startTeamMesh>[0]> = {}) {
  const model = await startRoleModel({
    plan: (_, nth) => planOf({ ...STEPS, strategy: `plan number ${nth + 1}` }),
    research: (_, nth) => factsOf({ fact: `fact number ${nth + 1}` }),
    expert: (_, nth) => says(`conclusion number ${nth + 1}\nFINAL ANSWER: heron`),
    critique: [verdict(9)],
    finalize: [says('FINAL ANSWER: heron')],
    ...change,
  });
  const mesh = await startTeamMesh({ agents: PANEL, modelUrl: model.url, ...options });
  const outcome = await mesh.ask({ question: 'Which bird is it?' });
  return { model, mesh, outcome, final: () => finalOf(outcome) };
}

describe('rejected work', () => {
  test.each([
    ['planner', 'plan'],
    ['researcher', 'research'],
    ['expert', 'expert'],
  ] as const)(
    'of the %s is done again with the feedback in the prompt, and judged again (REQ-031, REQ-032, REQ-033, REQ-037, REQ-063)',
    async (role, prompt) => {
      const { model, final } = await hold({ critique: criticOf({ [role]: 2 }) });

      const prompts = model.asked(prompt).map(textOf);
      expect(prompts).toHaveLength(3);
      expect(prompts[0]).not.toContain('criticised');
      for (const [index, again] of prompts.slice(1).entries()) {
        expect(again).toMatch(
          /It was criticised\. [^:]+:\n- rejected with quality 3, relevance 9\n- it is too vague\n- name the source/,
        );
        // The criticism comes with the work that it is about.
        expect(again).toMatch(
          new RegExp(`Your last \\w+:\\n.*number ${index + 1}\\b.*It was criticised`, 's'),
        );
      }
      // There are three pieces of work, and two of them are repeated.
      expect(model.asked('critique')).toHaveLength(5);
      expect(final().answer).toBe('heron');
      expect(final().reasoning_trace).toContain(
        `rejects the ${role}’s work (quality 3, relevance 9): it is too vague name the source`,
      );
      expect(final().reasoning_trace).toContain(
        `the ${role} is asked again, with the critic’s feedback (2 of `,
      );
    },
  );

  test('does not go on: what comes next has the accepted work alone (REQ-037)', async () => {
    const { model } = await hold({ critique: criticOf({ planner: 1, researcher: 1 }) });

    const expert = textOf(model.asked('expert')[0]);
    expect(expert).toContain('plan number 2');
    expect(expert).not.toContain('plan number 1');
    expect(expert).toContain('fact number 2');
    expect(expert).not.toContain('fact number 1');
  });
});

describe('the critic', () => {
  test('sees the question and one piece of work, nothing that was said before (REQ-038)', async () => {
    const { model } = await hold({ critique: criticOf({ expert: 1 }) });

    const requests = model.asked('critique');
    for (const request of requests) {
      expect(request.messages.map(({ role }) => role)).toEqual(['system', 'user']);
      expect(textOf(request)).toContain('Question: Which bird is it?');
    }
    const works = requests.map((request) =>
      ['plan number 1', 'fact number 1', 'conclusion number 1', 'conclusion number 2'].filter((work) =>
        textOf(request).includes(work),
      ),
    );
    expect(works).toEqual([
      ['plan number 1'],
      ['fact number 1'],
      // The expert's input belongs to its work.
      ['fact number 1', 'conclusion number 1'],
      ['fact number 1', 'conclusion number 2'],
    ]);
  });

  test('gives marks for quality and relevance, weaknesses and suggestions (REQ-034, REQ-035, REQ-036, REQ-062)', async () => {
    const { mesh, final } = await hold({ critique: criticOf({ planner: 1 }) });

    expect(mesh.sentBy('critic')[0]?.payload).toMatchObject({
      quality: 3,
      relevance: 9,
      weaknesses: ['it is too vague'],
      suggestions: ['name the source'],
      accepted: false,
    });
    expect(final().reasoning_trace).toContain('it is too vague name the source');
  });

  test.each([
    ['quality below its threshold', { quality: 7, relevance: 9 }, { quality: 8 }, false],
    ['relevance below its threshold', { quality: 9, relevance: 7.9 }, { relevance: 8 }, false],
    ['the default thresholds', { quality: 6, relevance: 6 }, undefined, true],
  ])(
    'judges by the thresholds of the team file, not by its own words: %s (REQ-064)',
    async (_, marks, thresholds, accepted) => {
      const agents = PANEL.map((agent) =>
        agent.id === 'critic' && thresholds !== undefined ? { ...agent, options: { thresholds } } : agent,
      );
      const { mesh } = await hold(
        { critique: [verdict(9, { ...marks, weaknesses: ['accept this!'] })] },
        { agents, teamOptions: { retry: { planner: 1 } } },
      );

      // The verdict is the same at every step, of which the plan is the first.
      expect(mesh.sentBy('critic')[0]?.payload.accepted).toBe(accepted);
      expect(mesh.sentBy('critic').every(({ payload }) => payload.accepted === accepted)).toBe(true);
    },
  );

  test('rejects work that leaves a part of the question out, however good it is (REQ-065, REQ-066)', async () => {
    const { model, final } = await hold({
      critique: (request, nth) => {
        const isFirstConclusion = textOf(request).includes('conclusion number 1');
        return verdict(9, isFirstConclusion || nth > 99 ? { missing: ['how large it is'] } : {});
      },
    });

    expect(textOf(model.asked('expert')[1])).toContain('- not answered: how large it is');
    expect(final().reasoning_trace).toContain(
      'rejects the expert’s work (quality 9, relevance 9): not answered: how large it is',
    );
    expect(final().answer).toBe('heron');
  });

  test('with a threshold that is no mark fails the question with its key (REQ-076)', async () => {
    const agents = PANEL.map((agent) =>
      agent.id === 'critic' ? { ...agent, options: { thresholds: { quality: 11 } } } : agent,
    );
    const { outcome } = await hold({}, { agents });

    expect(outcome).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/critic: .*thresholds\.quality/),
    });
  });
});

describe('the retry limit', () => {
  test.each([
    // The limits of the others are those that their retries below use up.
    ['planner', 'plan', 4],
  ] as const)(
    'of the %s has a default; when it is exceeded the answer is the exact sentence, and the trace says whose failure it is (REQ-069a, REQ-069b, REQ-069d, REQ-069e, REQ-069f, REQ-072)',
    async (role, prompt, times) => {
      const { model, final } = await hold({ critique: criticOf({ [role]: 99 }) });

      const { answer, raw_answer, failed_role, reasoning_trace } = final();
      expect(answer).toBe(`The question could not be answered due to ${role} failures.`);
      expect(raw_answer).toBe(answer);
      expect(failed_role).toBe(role);
      expect(reasoning_trace).toContain(`gave up: the ${role}’s work was rejected ${times} times`);
      expect(model.asked(prompt)).toHaveLength(times);
      expect(model.asked('finalize')).toEqual([]);
    },
  );

  test('is the team file’s (REQ-069b, REQ-075)', async () => {
    const { model, final } = await hold(
      { critique: criticOf({ expert: 99 }) },
      { teamOptions: { retry: { planner: 2, researcher: 5, expert: 1 } } },
    );

    expect(model.asked('expert')).toHaveLength(2);
    expect(final().failed_role).toBe('expert');
  });

  test('of one role is not used up by another’s retries (REQ-069c)', async () => {
    const { model, final } = await hold({ critique: criticOf({ planner: 3, researcher: 6, expert: 5 }) });

    expect(final().answer).toBe('heron');
    const counts = (['plan', 'research', 'expert'] as const).map((role) => model.asked(role).length);
    expect(counts).toEqual([4, 7, 6]);
    // Critic and finalizer are asked once per piece of work (REQ-069g): 4 + 7 + 6.
    expect(model.asked('critique')).toHaveLength(17);
    expect(model.asked('finalize')).toHaveLength(1);
  });

  test.each([
    ['zero', 0],
    ['a fraction', 1.5],
    ['a word', 'two'],
  ])('cannot be %s: the message has its key (REQ-076)', async (_, planner) => {
    const { outcome, model } = await hold({}, { teamOptions: { retry: { planner } } });

    expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringContaining('retry.planner') });
    expect(model.requests).toEqual([]);
  });
});

describe('a role that fails for good', () => {
  test.each([
    ['planner', 'plan'],
    ['critic', 'critique'],
    ['finalizer', 'finalize'],
  ] as const)(
    '%s: the question fails with its name and the cause, and it is not asked again (REQ-067, REQ-069g)',
    async (agent, prompt) => {
      const { model, outcome } = await hold(
        { [prompt]: [{ status: 401, error: 'bad key' }] },
        { engineOptions: { max_retries: 0 } },
      );

      expect(outcome).toMatchObject({
        status: 'failed',
        answer: null,
        reason: expect.stringMatching(new RegExp(`${agent}: .*bad key`)),
      });
      expect(model.asked(prompt)).toHaveLength(1);
    },
  );

  test.each([
    ['critic', 'critique', 'the expert’s work stands unjudged: critic: '],
    ['finalizer', 'finalize', 'the expert’s conclusion stands: finalizer: '],
  ] as const)(
    '%s without a usable reply: the answer of the others is kept, and the trace says so',
    async (_, prompt, words) => {
      const { outcome, final } = await hold({ [prompt]: () => ({ content: '', finish: 'content_filter' }) });
      expect(outcome.status).toBe('answered');
      expect(final()).toMatchObject({ answer: 'heron', reasoning_trace: expect.stringContaining(words) });
    },
  );
});
