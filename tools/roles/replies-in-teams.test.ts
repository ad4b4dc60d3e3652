import { chunkDocument } from '@gaia-mesh/core/contracts/task.ts';
import { describe, expect, test } from 'vitest';
import { cleanAnswer, hasStatedAnswer } from '../answers/clean-answer.ts';
import { MODEL_ENGINES } from '../engines/testing/engine-under-test.ts';
import { TURNS, type TurnRow } from '../engines/testing/reply-table.ts';
import type { ModelServerRequest, ScriptedReply } from '../fixtures/model-server.ts';
import { BREAKS, type Break } from '../fixtures/model-wire.ts';
import type { Pace } from '../http/service.ts';
import { noServices } from '../tool-services.ts';
import type { AttemptMemory } from './memory/attempt.ts';
import { PANEL, planOf, verdict } from './panel/testing/panel.ts';
import { finalOf } from './testing/final-payload.ts';
import { type RoleReplies, says, startRoleModel, textOf } from './testing/role-model.ts';
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

const TRUTHS = [
  ...ROWS.map((row, index) => [`row-${index}`, expectedOf(row)]),
  ...[...Object.keys(BREAKS), 'filters', 'overflows', 'refuses', 'announces'].flatMap((row) => [
    [`${row}-once`, '4'],
    [`${row}-always`, '4'],
  ]),
].map(([id, answer]) => ({ task_id: id, question_id: id, cycle: 1, level: null, answers: [answer] }));

/** The overseer's memory, which is not used: every answer is right. */
const NO_MEMORY: AttemptMemory = {
  recordAttempt: () => Promise.resolve(1),
  addDiagnosis: () => Promise.reject(new Error('every answer is right')),
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
      readonly entry?: string;
      readonly replies: () => Parameters<typeof startRoleModel>[0];
      readonly tested: string;
      /** Another role words the answer. */
      readonly isRelayed?: boolean;
      /** An earlier role's answer stands where the tested role gives none. */
      readonly keeps?: boolean;
    }
  >
> = {
  single: {
    agents: [{ id: 'alone', tool: 'answer_alone' }],
    replies: () => ({ alone: byRow() }),
    tested: 'alone',
  },
  react: {
    agents: [{ id: 'react', tool: 'react_step', may_call }, ...READERS],
    replies: () => ({ react: byRow() }),
    tested: 'react',
  },
  supervisor: {
    agents: [
      { id: 'route', tool: 'route', may_call: ['math'] },
      { id: 'math', tool: 'answer', may_call, options: { specialty: 'math' } },
      ...READERS,
    ],
    replies: () => ({ route: [{ content: { type: 'math' } }], math: byRow() }),
    tested: 'math',
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
    tested: 'execute',
  },
  'panel, its expert': {
    agents: PANEL,
    replies: () => ({ plan: [PLAN], expert: byRow(), critique: [verdict(9)], finalize: [LATER] }),
    tested: 'expert',
    isRelayed: true,
  },
  'panel, its finalizer': {
    agents: PANEL,
    replies: () => ({ plan: [PLAN], expert: [LATER], critique: [verdict(9)], finalize: byRow() }),
    tested: 'finalize',
    keeps: true,
  },
  pipeline: {
    agents: ['search', 'extract', 'triple', 'reason'].map((tool) => ({ id: tool, tool })),
    entry: 'reason',
    replies: () => ({
      search: [{ content: { chunks: [0] } }],
      extract: [{ content: { sentences: [0] } }],
      triple: [{ content: { triples: [{ sentence: 0, subject: 'it', relation: 'is', object: '4' }] } }],
      reason: [{ content: { sentence: 0, answer: '4' } }],
    }),
    tested: 'reason',
  },
};

/** Troubles of a model or its server, and their outcome: a right answer, or the words of a failure. */
type Trouble = readonly [row: string, happens: 'once' | 'always', end: string | RegExp];
const TROUBLES: readonly Trouble[] = [
  ...Object.keys(BREAKS).flatMap((how): Trouble[] => [
    [how, 'once', '4'],
    [how, 'always', /no whole reply|the upstream was lost/],
  ]),
  ['filters', 'once', '4'],
  ['filters', 'always', /refused to answer \(content filter/],
  ['overflows', 'once', '4'],
  ['overflows', 'always', /cannot take the whole prompt/],
  ['refuses', 'once', '4'],
  ['refuses', 'always', /refused to answer/],
];

/** Troubles of the tested role alone: others reply in JSON, where words of this kind are merely unusable. */
const CIRCLES: readonly Trouble[] = [
  ['announces', 'once', '4'],
  [
    'announces',
    'always',
    /announced steps and took none: “I need read_file for this|no usable reply to reason/,
  ],
];

const TROUBLED: Readonly<Record<string, ScriptedReply>> = {
  ...Object.fromEntries(Object.keys(BREAKS).map((how) => [how, { breaks: how as Break }])),
  filters: { status: 400, code: 'content_filter', error: 'The response was filtered: content_filter' },
  overflows: { status: 413, error: 'Request too large' },
  refuses: { content: 'I’m sorry, but I can’t help with that.' },
  announces: { content: 'I need read_file for this.' },
};

/** Characters of a small context, and of a document that is larger. */
const SMALL_CONTEXT = 3_000;
const LONG_DOCUMENT = chunkDocument(`It is 4.${' It is not 5.'.repeat(400)}`);

/** Makes a role's model have the trouble that the question names. */
function troubling(script: RoleReplies | undefined, has: (row: string) => boolean): RoleReplies {
  const begun = new Set<string>();
  return async (request, nth) => {
    const [asked = '', row = '', happens] = /trouble (\w+) (\w+)/.exec(textOf(request)) ?? [];
    const good =
      typeof script === 'function'
        ? await script(request, nth)
        : (script?.[Math.min(nth, script.length - 1)] ?? {});
    const isOver = happens === 'once' && row !== 'overflows' && begun.has(asked);
    if (asked === '' || !has(row) || isOver) return good;
    begun.add(asked);
    // A context of some size, which a document fills, and one that holds no prompt at all.
    if (row === 'overflows' && happens === 'once' && textOf(request).length < SMALL_CONTEXT) return good;
    return { ...good, ...TROUBLED[row] };
  };
}

const FAST: Pace = { random: () => 0.5, nowMs: () => 0, wait: async () => undefined };

/** Teams know nothing of the format in which their models are asked: one of them is tried with each, others with one. */
const PAIRS = Object.entries(TEAMS).map(([name, team], index) => ({
  name,
  ...team,
  engines: name === 'single' ? MODEL_ENGINES : [MODEL_ENGINES[index % MODEL_ENGINES.length] ?? 'openai'],
}));

describe.each(PAIRS)('the team $name', ({ agents, entry, replies, tested, isRelayed, keeps, engines }) => {
  test.each(engines)(
    'ends each question alone, in the answer or in a failure with a name, whatever its models and their servers do (%s)',
    async (engine) => {
      const scripts = replies();
      const isOwn = (row: string) => CIRCLES.some(([own]) => own === row);
      const model = await startRoleModel(
        Object.fromEntries(
          Object.entries(scripts).map(([role, script]) => [
            role,
            troubling(script, (row) => role === tested || !isOwn(row)),
          ]),
        ),
      );
      const mesh = await startTeamMesh({
        agents,
        entry,
        engine,
        modelUrl: model.url,
        store: 'none',
        engineOptions: { max_retries: 1 },
        engineLimits: { idleMs: 100, timeoutMs: 60_000, pace: FAST },
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
      const came: Record<string, unknown> = {};
      const wanted: Record<string, unknown> = {};

      // Each format has its part of the rows, and all of them in the engines' own tests.
      for (const [index, row] of ROWS.entries()) {
        if (tested === 'reason' || index % MODEL_ENGINES.length !== MODEL_ENGINES.indexOf(engine)) continue;
        const final = finalOf(await mesh.ask({ question: `What is in row ${index}?` }, `row-${index}`));
        came[row.what] = final.answer;
        wanted[row.what] = isRelayed === true ? '4' : expectedOf(row);
      }
      for (const [row, happens, end] of [...TROUBLES, ...CIRCLES]) {
        const what = `${row} ${happens}`;
        const question = `What is four? trouble ${what}`;
        const { status, answer, reason } = await mesh.ask(
          { question, chunks: row === 'overflows' ? LONG_DOCUMENT : ['It is 4.'] },
          what.replace(' ', '-'),
        );
        came[what] = status === 'answered' ? answer : reason;
        wanted[what] =
          isOwn(row) && keeps === true ? '4' : typeof end === 'string' ? end : expect.stringMatching(end);
      }

      expect(came).toEqual(wanted);
    },
  );
});
