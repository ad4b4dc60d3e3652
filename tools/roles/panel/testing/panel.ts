import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { ScriptedReply } from '../../../fixtures/model-server.ts';
import { says, startRoleModel } from '../../testing/role-model.ts';
import { startTeamMesh, type TestAgent } from '../../testing/team-mesh.ts';

/** The panel, with the readers of text files as its information tools. */
export const PANEL: readonly TestAgent[] = [
  { id: 'runner', tool: 'moderate', may_call: ['planner', 'researcher', 'expert', 'critic', 'finalizer'] },
  { id: 'planner', tool: 'plan' },
  { id: 'researcher', tool: 'research', may_call: ['list_files', 'read_file'] },
  { id: 'expert', tool: 'expert', may_call: ['calculator', 'read_file'] },
  { id: 'critic', tool: 'critique' },
  { id: 'finalizer', tool: 'finalize' },
  { id: 'list_files', tool: 'list_files' },
  { id: 'read_file', tool: 'read_file' },
  { id: 'calculator', tool: 'calculator' },
];

export function planOf(change: JsonObject = {}): ScriptedReply {
  return {
    content: {
      question_type: 'lookup',
      sub_problems: ['which bird', 'how large it is'],
      strategy: 'look both up, then compare',
      steps: [
        { task: 'find the bird', tool: 'read_file', needs_information: true, uses: [] },
        { task: 'find its size', tool: 'read_file', needs_information: true, uses: [1] },
        { task: 'compare', tool: '', needs_information: false, uses: [1, 2] },
      ],
      needs_information: true,
      failure_modes: [],
      alternatives: [],
      contradictions: [],
      ...change,
    },
  };
}

export function factsOf(...facts: readonly JsonObject[]): ScriptedReply {
  return {
    content: {
      facts: facts.map((fact) => ({ fact: 'a fact', source: 'a.txt', found: true, conflict: '', ...fact })),
    },
  };
}

/** Returns the critic's reply: accepted with good marks, rejected with bad ones. */
export function verdict(quality: number, change: JsonObject = {}): ScriptedReply {
  return {
    content: {
      quality,
      relevance: 9,
      missing: [],
      weaknesses: quality < 6 ? ['it is too vague'] : [],
      suggestions: quality < 6 ? ['name the source'] : [],
      ...change,
    },
  };
}

type Script = Parameters<typeof startRoleModel>[0];

const GOOD: Script = {
  plan: [planOf()],
  research: [
    factsOf({ fact: 'the bird is a heron', source: 'a.txt' }),
    factsOf({ fact: 'a heron is 95 cm long', source: 'b.txt' }),
  ],
  expert: [says('1. a.txt says heron.\n2. b.txt says 95 cm.\nFINAL ANSWER: heron, 95')],
  critique: [verdict(9)],
  finalize: [says('FINAL ANSWER: heron, 95')],
};

/** Asks a panel one question; its roles do well except for the replies in `change`. */
export async function holdPanel(
  change: Script = {},
  options: Partial<Parameters<typeof startTeamMesh>[0]> = {},
  payload = {},
) {
  const model = await startRoleModel({ ...GOOD, ...change });
  const mesh = await startTeamMesh({ agents: PANEL, modelUrl: model.url, ...options });
  const outcome = await mesh.ask({ question: 'Which bird is it, and how large?', ...payload });
  return { model, mesh, outcome };
}
