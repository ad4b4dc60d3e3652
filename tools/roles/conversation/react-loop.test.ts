import { describe, expect, test } from 'vitest';
import type { ScriptedReply } from '../../fixtures/model-server.ts';
import { finalOf } from '../testing/final-payload.ts';
import { calls, says, startRoleModel, textOf } from '../testing/role-model.ts';
import { startTeamMesh, type TestAgent } from '../testing/team-mesh.ts';

const AGENTS: readonly TestAgent[] = [
  { id: 'react', tool: 'react_step', may_call: ['list_files', 'read_file'] },
  { id: 'list_files', tool: 'list_files' },
  { id: 'read_file', tool: 'read_file' },
  { id: 'read_excel', tool: 'read_excel' },
];
const QUESTION = 'Which bird is it?';
const FILES = { 'a.txt': 'It is not a crow; see b.txt.', 'b.txt': 'It is a heron.' };

async function ask(
  replies: Parameters<typeof startRoleModel>[0]['react'],
  options: Partial<Parameters<typeof startTeamMesh>[0]> = {},
) {
  const model = await startRoleModel({ react: replies ?? [] });
  const mesh = await startTeamMesh({ agents: AGENTS, modelUrl: model.url, files: FILES, ...options });
  const outcome = await mesh.ask({ question: QUESTION });
  return { model, mesh, outcome, requests: model.asked('react') };
}

describe('the loop', () => {
  test('goes from the model to tools and back until there is an answer (RA-20)', async () => {
    const { outcome, mesh, requests } = await ask([
      calls('list_files', {}, 'I look which files there are.'),
      calls('read_file', { file: 'b.txt' }),
      says('It says so.\nFINAL ANSWER: heron'),
    ]);

    expect(finalOf(outcome)).toMatchObject({
      answer: 'heron',
      tool_calls: [
        { tool: 'list_files', count: 1, failed: 0 },
        { tool: 'read_file', count: 1, failed: 0 },
      ],
    });
    expect(requests).toHaveLength(3);
    expect(mesh.relayed()).toEqual([
      'react>list_files list_files.call',
      'list_files>react list_files.result',
      'react>read_file read_file.call',
      'read_file>react read_file.result',
      'react>* data_event',
    ]);
  });

  test('shows every earlier message of a tool in the next request (REQ-026)', async () => {
    const { requests } = await ask([
      calls('read_file', { file: 'a.txt' }),
      calls('read_file', { file: 'b.txt' }),
      says('FINAL ANSWER: heron'),
    ]);

    const results = requests.at(-1)?.messages.filter(({ role }) => role === 'tool');
    expect(results?.map(({ content }) => content)).toEqual([
      expect.stringContaining('see b.txt'),
      expect.stringContaining('It is a heron.'),
    ]);
  });

  test.each([
    ['It is not a crow; see b.txt.', 'b.txt'],
    ['It is not a crow; see c.txt.', 'c.txt'],
  ])('lets what a tool said decide the next step: %s (REQ-025, REQ-027)', async (text, next) => {
    const { mesh } = await ask(
      ({ messages }) => {
        const last = messages.at(-1);
        if (last?.role !== 'tool') return calls('read_file', { file: 'a.txt' });
        const seen = /see (\w\.txt)/.exec(last.content)?.[1];
        return seen === undefined
          ? says('FINAL ANSWER: heron')
          : calls('read_file', { file: seen }, `It names ${seen}.`);
      },
      { files: { 'a.txt': text, 'b.txt': 'heron', 'c.txt': 'heron' } },
    );

    expect(mesh.sentBy('react').map(({ payload }) => payload.arguments)).toEqual([
      { file: 'a.txt' },
      { file: next },
      undefined,
    ]);
  });

  test('runs several calls of one turn, each answered in its place (REQ-028)', async () => {
    const { outcome, requests } = await ask([
      {
        content: 'Both at once.',
        toolCalls: [
          { name: 'read_file', arguments: { file: 'a.txt' } },
          { name: 'read_file', arguments: { file: 'b.txt' } },
        ],
      },
      says('FINAL ANSWER: heron'),
    ]);

    expect(finalOf(outcome).tool_calls).toEqual([{ tool: 'read_file', count: 2, failed: 0 }]);
    expect(requests[1]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
    ]);
  });

  test('gives each action in the trace its reason before it, with tool, arguments and result (REQ-024, REQ-030)', async () => {
    const { outcome } = await ask([
      calls('list_files', {}),
      calls('read_file', { file: 'b.txt' }, 'The list names b.txt.'),
      says('FINAL ANSWER: heron'),
    ]);

    const { reasoning_trace: trace } = finalOf(outcome);
    expect(trace).toMatch(
      /1\. react_step: to use list_files\n2\. react_step: list_files\(\{\}\) → Files found:\n\.\/a\.txt\n\.\/b\.txt\n3\. react_step: The list names b\.txt\.\n4\. react_step: to use read_file\n5\. react_step: read_file\(\{"file":"b\.txt"\}\) → .*\n\nIt is a heron\.\n6\. /,
    );
  });

  test('asks with the prompt of the file, replaced without a change of code (RA-27, REQ-006)', async () => {
    const own =
      '## system\n\nYou answer a question by reasoning and acting like a pirate. {{answer_format}}\n\n## user\n\n{{question}} {{file}} {{document}}\n';
    const { requests } = await ask([says('FINAL ANSWER: heron')], { prompts: () => own });

    expect(textOf(requests[0])).toContain('like a pirate');
    expect(textOf(requests[0])).toContain(QUESTION);
  });
});

describe('the end of the loop', () => {
  const endless = (request: { messages: readonly unknown[] }): ScriptedReply =>
    calls('list_files', {}, `Perhaps the bird number ${request.messages.length}.`);

  test('comes after 50 turns by default, with the best answer so far (RA-21)', async () => {
    const { outcome, requests } = await ask(endless);

    expect(requests).toHaveLength(50);
    const final = finalOf(outcome);
    expect(final.answer).toMatch(/bird number \d+/);
    expect(final.details).toEqual({ ended: 'limit' });
    expect(final.reasoning_trace).toContain('stopped after 50 turns');
    // Results of calls on the last turn could not be read any more.
    expect(final.tool_calls).toEqual([{ tool: 'list_files', count: 49, failed: 0 }]);
  });

  test('is told to the model before its last turn, and comes when the team file says (RA-21)', async () => {
    const { outcome, requests } = await ask(
      ({ messages }, nth) => (nth === 3 ? says('FINAL ANSWER: heron') : endless({ messages })),
      { teamOptions: { iterations: 4 } },
    );

    expect(requests).toHaveLength(4);
    expect(textOf(requests[2])).not.toContain('last turn');
    expect(requests[3]?.messages.at(-1)).toMatchObject({
      role: 'user',
      content: expect.stringContaining('last turn'),
    });
    expect(finalOf(outcome).answer).toBe('heron');
  });

  test('prefers an answer in the required form to what was said after it (RA-21)', async () => {
    const { outcome } = await ask(
      (_, nth) => calls('list_files', {}, nth === 1 ? 'FINAL ANSWER: heron' : `Let me check ${nth}.`),
      { teamOptions: { iterations: 4 } },
    );

    expect(finalOf(outcome).answer).toBe('heron');
  });

  test('without a word of the model is no answer, and says so (RA-12, RA-21)', async () => {
    const { outcome } = await ask([{ toolCalls: [{ name: 'list_files', arguments: {} }] }], {
      teamOptions: { iterations: 3 },
    });

    expect(finalOf(outcome)).toMatchObject({
      answer: 'No answer was found.',
      raw_answer: 'No answer was found within 3 turns.',
      details: { ended: 'gave_up' },
    });
  });

  test('comes after the same calls five times in a row: their results are the same, too', async () => {
    const { outcome, requests } = await ask([calls('list_files', {}, 'Let me look.')]);

    expect(requests).toHaveLength(6);
    expect(requests[5]?.messages.at(-1)?.content).toContain('last turn');
    expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringContaining('went in a circle') });
  });

  test.each([['a template without an answer', 'FINAL ANSWER:']])(
    'is not %s: the model is asked again (RA-12)',
    async (_, content) => {
      const { outcome, requests } = await ask([says(content), says('FINAL ANSWER: heron')]);

      expect(finalOf(outcome).answer).toBe('heron');
      expect(requests[1]?.messages.at(-1)).toMatchObject({
        role: 'user',
        content: expect.stringContaining('There is no answer in your reply'),
      });
    },
  );

  test('comes after three replies without an answer in a row (RA-12)', async () => {
    const { outcome, requests } = await ask([says('')]);

    expect(requests).toHaveLength(3);
    expect(finalOf(outcome).answer).toBe('No answer was found.');
  });
});

describe('a tool call', () => {
  test.each([
    [
      'of a tool that is not there',
      'telescope',
      { at: 'the bird' },
      'Error: there is no tool telescope. There are: list_files, read_file',
    ],
    [
      'of a tool that another agent may call',
      'read_excel',
      { file: 'a.txt' },
      'Error: there is no tool read_excel.',
    ],
    ['with arguments of a wrong kind', 'read_file', { file: 7 }, 'Error: read_file: arguments: file:'],
    ['with unknown arguments', 'read_file', { file: 'a.txt', colour: 'red' }, 'Error: read_file: arguments:'],
    ['without arguments that it needs', 'read_file', {}, 'Error: read_file: arguments: file:'],
    [
      'with arguments that are no JSON',
      'read_file',
      '{"file": ',
      'Error: the arguments are not a JSON object',
    ],
    ['that fails', 'read_file', { file: 'missing.txt' }, 'Error: read_file: there is no file missing.txt'],
    ['that leads out of the folder', 'read_file', { file: '../../secret' }, 'leads out of the folder'],
  ])(
    '%s is told to the model, which tries another way (RA-25, RA-26, REQ-029)',
    async (_, name, args, told) => {
      const { outcome, requests } = await ask([
        { content: 'First this.', toolCalls: [{ name, arguments: args }] },
        calls('read_file', { file: 'b.txt' }, 'Then another way.'),
        says('FINAL ANSWER: heron'),
      ]);

      expect(requests[1]?.messages.at(-1)).toMatchObject({
        role: 'tool',
        content: expect.stringContaining(told),
      });
      const final = finalOf(outcome);
      expect(final.answer).toBe('heron');
      expect(final.reasoning_trace).toContain('It is a heron.');
    },
  );

  test('of an agent that is gone is told to the model, which goes on without it (RA-26)', async () => {
    const model = await startRoleModel({
      react: [calls('read_file', { file: 'b.txt' }), calls('list_files', {}), says('FINAL ANSWER: heron')],
    });
    const mesh = await startTeamMesh({ agents: AGENTS, modelUrl: model.url, files: FILES });
    await mesh.agents[2]?.stop();

    expect(finalOf(await mesh.ask({ question: QUESTION })).answer).toBe('heron');
    expect(textOf(model.asked('react')[1])).toContain('Error: agent read_file is gone');
  });

  test('of an agent that never replies is given up after a time (RA-26)', async () => {
    const model = await startRoleModel({
      react: [calls('calculator', { expression: '2+2' }), says('FINAL ANSWER: 4')],
    });
    const mesh = await startTeamMesh({
      agents: [
        { id: 'react', tool: 'react_step', may_call: ['silent'], options: { tool_timeout_s: 0.05 } },
        // This agent does not subscribe to its calls, so it never replies.
        { id: 'silent', tool: 'calculator', subscribes: ['nothing'] },
      ],
      modelUrl: model.url,
    });

    expect(finalOf(await mesh.ask({ question: '2+2?' })).answer).toBe('4');
    expect(textOf(model.asked('react')[1])).toContain('Error: silent did not reply within 0.05 s');
  });
});

describe('the model', () => {
  const status = (request: { model: string }): ScriptedReply =>
    request.model === 'scripted' ? { status: 500, error: 'primary is down' } : {};

  test('that fails is followed by the fallback, with the same tools, and the trace says so (RA-23)', async () => {
    const { outcome, requests } = await ask(
      (request) =>
        request.model === 'scripted'
          ? status(request)
          : request.messages.at(-1)?.role === 'tool'
            ? says('FINAL ANSWER: heron')
            : calls('read_file', { file: 'b.txt' }),
      { engineOptions: { fallback_model: 'second', max_retries: 0 } },
    );

    const final = finalOf(outcome);
    expect(final.answer).toBe('heron');
    expect(requests.map(({ model }) => model)).toEqual(['scripted', 'second', 'second']);
    expect(requests[1]?.tools.map(({ name }) => name)).toEqual(['list_files', 'read_file']);
    expect(final.reasoning_trace).toMatch(/primary is down.*second.*continues/);
    expect(final.usage).toMatchObject([{ role: 'react_step', model: 'second', calls: 2 }]);
  });
});
