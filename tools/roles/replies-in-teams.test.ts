import { describe, expect, test } from 'vitest';
import { NO_ANSWER } from '../answers/answer-format.ts';
import { cleanAnswer, hasStatedAnswer } from '../answers/clean-answer.ts';
import { TURNS, type TurnRow } from '../engines/testing/reply-table.ts';
import type { ModelServerRequest, ScriptedReply } from '../fixtures/model-server.ts';
import { noServices } from '../tool-services.ts';
import type { AttemptMemory } from './memory/attempt-memory.ts';
import { PANEL, planOf, verdict } from './panel/testing/panel.ts';
import { finalOf } from './testing/final-payload.ts';
import { says, startRoleModel, textOf } from './testing/role-model.ts';
import { startTeamMesh, type TestAgent } from './testing/team-mesh.ts';

/** The teams' tools in place of those that the table's models were offered. */
const TOOLS: Readonly<Record<string, string>> = { look_up: 'read_file', list_all: 'list_files' };
const named = <Said>(said: Said): Said =>
  JSON.parse(JSON.stringify(said).replaceAll(/look_up|list_all/g, (name) => TOOLS[name] ?? name));
const ROWS = TURNS.map(named);

const READERS: readonly TestAgent[] = [
  { id: 'list_files', tool: 'list_files' },
  { id: 'read_file', tool: 'read_file' },
];
const may_call = READERS.map(({ id }) => id);

const LATER = says('FINAL ANSWER: 4');

/** Creates a model that replies with the row that the question names, and states an answer if it is asked again. */
function byRow() {
  const begun = new Set<string>();
  return (request: ModelServerRequest): ScriptedReply => {
    const [, row = ''] = /row (\d+)/.exec(textOf(request)) ?? [];
    if (begun.has(row)) return LATER;
    begun.add(row);
    return ROWS[Number(row)]?.reply ?? {};
  };
}

/** Returns the stated answer; a reply that states none leads to a second request. */
function expectedOf({ says: text, calls }: TurnRow): string | null {
  return text !== undefined && calls === undefined && hasStatedAnswer(text) ? cleanAnswer(text) : '4';
}

const TRUTHS = ROWS.map((row, index) => ({
  task_id: `row-${index}`,
  question_id: `row-${index}`,
  cycle: 1,
  level: null,
  answers: [expectedOf(row)],
}));

/** The overseer's memory, which is not used: every answer is right. */
const NO_MEMORY: AttemptMemory = {
  recordAttempt: () => Promise.resolve(1),
  addGapRecord: () => Promise.reject(new Error('every answer is right')),
  gapRecords: () => Promise.resolve([]),
};

const PLAN = planOf({
  steps: [{ task: 'conclude', tool: '', needs_information: false, uses: [] }],
  needs_information: false,
});

/** Each team, with the role whose model replies as in the table; the others do well. */
const TEAMS: Readonly<
  Record<
    string,
    {
      readonly agents: readonly TestAgent[];
      readonly replies: () => Parameters<typeof startRoleModel>[0];
      /** Another role words the answer. */
      readonly isRelayed?: boolean;
    }
  >
> = {
  single: { agents: [{ id: 'alone', tool: 'answer_alone' }], replies: () => ({ alone: byRow() }) },
  react: {
    agents: [{ id: 'react', tool: 'react_step', may_call }, ...READERS],
    replies: () => ({ react: byRow() }),
  },
  supervisor: {
    agents: [
      { id: 'route', tool: 'route', may_call: ['math'] },
      { id: 'math', tool: 'answer', may_call, options: { specialty: 'math' } },
      ...READERS,
    ],
    replies: () => ({ route: [{ content: { type: 'math' } }], math: byRow() }),
  },
  overseer: {
    agents: [
      { id: 'runner', tool: 'oversee', may_call: ['plan', 'execute', 'gap_store'] },
      { id: 'plan', tool: 'plan' },
      { id: 'execute', tool: 'execute', may_call },
      { id: 'gap_store', tool: 'gap_store' },
      ...READERS,
    ],
    replies: () => ({ plan: [PLAN], execute: byRow() }),
  },
  'panel, its expert': {
    agents: PANEL,
    replies: () => ({ plan: [PLAN], expert: byRow(), critique: [verdict(9)], finalize: [LATER] }),
    isRelayed: true,
  },
  'panel, its finalizer': {
    agents: PANEL,
    replies: () => ({ plan: [PLAN], expert: [LATER], critique: [verdict(9)], finalize: byRow() }),
  },
};

describe.each(Object.entries(TEAMS))(
  'replies as models write them, in the team %s',
  (_, { agents, replies, isRelayed }) => {
    test('end in the answer that was stated, whatever it came in', async () => {
      const model = await startRoleModel(replies());
      const mesh = await startTeamMesh({
        agents,
        modelUrl: model.url,
        store: 'none',
        engineOptions: { max_retries: 0 },
        workspaceFiles: [
          {
            agent: 'runner',
            name: 'truths.jsonl',
            text: TRUTHS.map((line) => `${JSON.stringify(line)}\n`).join(''),
          },
        ],
        services: {
          ...noServices,
          openMemory: () => Promise.resolve(NO_MEMORY),
          loadScorer: () => Promise.resolve((answer, truth) => answer === truth),
        },
      });

      const came: Record<string, string> = {};
      for (const [index, { what }] of ROWS.entries()) {
        const final = finalOf(await mesh.ask({ question: `What is in row ${index}?` }, `row-${index}`));
        expect(final.answer).not.toBe(NO_ANSWER);
        came[what] = final.answer;
      }

      expect(came).toEqual(
        Object.fromEntries(ROWS.map((row) => [row.what, isRelayed === true ? '4' : expectedOf(row)])),
      );
    });
  },
);
