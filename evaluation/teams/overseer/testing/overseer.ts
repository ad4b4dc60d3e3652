import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startRoleModel } from '@gaia-mesh/tools/roles/testing/role-model.ts';
import { startTeamMesh, type TestAgent } from '@gaia-mesh/tools/roles/testing/team-mesh.ts';
import { onTestFinished } from 'vitest';
import { openStore } from '../../../store/open-store.ts';
import type { Store } from '../../../store/store.ts';
import { toolServices } from '../../tool-services.ts';

/** The overseer's team, with the readers of text files as its data tools. */
export const OVERSEER: readonly TestAgent[] = [
  { id: 'runner', tool: 'oversee', may_call: ['plan', 'execute', 'diagnose', 'abstract', 'gap_store'] },
  { id: 'plan', tool: 'plan' },
  { id: 'execute', tool: 'execute', may_call: ['list_files', 'read_file'] },
  { id: 'diagnose', tool: 'diagnose' },
  { id: 'abstract', tool: 'abstract' },
  { id: 'gap_store', tool: 'gap_store' },
  { id: 'list_files', tool: 'list_files' },
  { id: 'read_file', tool: 'read_file' },
];

/** A truth that no prompt contains by chance. */
export const TRUTH = 'Zorvanquist';
export const QUESTION = 'Which surname does the second line of the letter have?';

const HINT = {
  kind: 'planning_hint',
  pattern: 'a part of a document is asked for by its place',
  cause: 'the first match is taken without counting',
  advice: 'number the parts before choosing one of them',
};

/** Default replies of the models: a wrong answer with the truth in the diagnosis, and a record without it. */
export const OVERSEER_REPLIES = {
  plan: [
    {
      content: {
        question_type: 'document lookup',
        sub_problems: ['which surname'],
        strategy: 'read the letter',
        steps: [{ task: 'read it', tool: 'read_file', needs_information: false, uses: [] }],
        needs_information: false,
        failure_modes: ['taking the first match'],
        alternatives: [],
        contradictions: [],
      },
    },
  ],
  execute: [{ content: 'The first line has it.\nFINAL ANSWER: Miller' }],
  diagnose: [
    {
      content: {
        point: 'reasoning',
        tool: 'read_file',
        diagnosis: `It read the first line, not the second, which has ${TRUTH}.`,
      },
    },
  ],
  abstract: [{ content: HINT }],
} satisfies Parameters<typeof startRoleModel>[0];

/** Returns the path of a fresh store in a folder of its own. */
export function storeFile(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-attempts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'attempts.sqlite');
}

/** Opens the store beside the agents, as a report does. */
export async function readStore(file: string): Promise<Store> {
  const store = await openStore(file, { warn: (message) => expectNothing(message) });
  onTestFinished(() => store.close());
  return store;
}

function expectNothing(message: string): never {
  throw new Error(`the store warned: ${message}`);
}

/** Truths of the question's tasks in cycles: `t` in the first, `t-2` in the second. */
const TRUTH_LINES = ['t', 't-2', 't-3']
  .map((task_id, index) =>
    JSON.stringify({ task_id, question_id: 't', cycle: index + 1, level: '1', answers: [TRUTH] }),
  )
  .join('\n');

export async function startOverseer(
  replies: Parameters<typeof startRoleModel>[0] = {},
  options: Partial<Parameters<typeof startTeamMesh>[0]> = {},
) {
  const model = await startRoleModel({ ...OVERSEER_REPLIES, ...replies });
  const store = options.store ?? storeFile();
  const mesh = await startTeamMesh({
    agents: OVERSEER,
    modelUrl: model.url,
    store,
    services: toolServices,
    workspaceFiles: [{ agent: 'runner', name: 'truths.jsonl', text: `${TRUTH_LINES}\n` }],
    engineOptions: { max_retries: 0 },
    ...options,
  });
  return { model, mesh, store, ask: (taskId = 't') => mesh.ask({ question: QUESTION }, taskId) };
}
