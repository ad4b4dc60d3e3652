import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import type { ModelScript, ScriptedReply } from '@gaia-mesh/tools/fixtures/model-server.ts';

/** Beginnings of the prompts whose reply is JSON, and the witness's replies. */
const STRUCTURED: readonly (readonly [string, JsonObject])[] = [
  [
    'You plan how',
    {
      question_type: 'lookup',
      sub_problems: ['what the file says'],
      strategy: 'read the file',
      steps: [{ task: 'read the file', tool: 'read_file', needs_information: false, uses: [] }],
      needs_information: false,
      failure_modes: [],
      alternatives: [],
      contradictions: [],
    },
  ],
  [
    'You judge the work of one role',
    { quality: 9, relevance: 9, missing: [], weaknesses: [], suggestions: [] },
  ],
];

const STATED = /FINAL ANSWER: (\d+)/g;
/** The fact in each file of the questions. */
const FACT = /is moored at berth (\d+)/;

/**
 * A model that answers at which berth a ship is: it reads the file if it has a tool for that, believes the last
 * statement it received, and sometimes reports a wrong number. The seed and the order of the requests decide when.
 *
 * @param temper `slips` is the probability of a wrong number in each reply, which may change
 */
export function createWitness(temper: { readonly slips: number }, seed: number): ModelScript {
  const random = new Random(seed);
  return ({ messages, tools }): ScriptedReply => {
    const [{ content: system = '' } = {}, ...rest] = messages;
    const structured = STRUCTURED.find(([opening]) => system.startsWith(opening));
    if (structured !== undefined) return { content: structured[1] };
    const told = rest.map(({ content }) => content).join('\n');
    const known = [...told.matchAll(STATED)].at(-1)?.[1] ?? FACT.exec(told)?.[1];
    const file = /ship-\d+\.txt/.exec(told)?.[0];
    const isUnread = known === undefined && file !== undefined;
    if (isUnread && tools.some(({ name }) => name === 'read_file'))
      return { content: 'I read the file.', toolCalls: [{ name: 'read_file', arguments: { file } }] };
    const isSlip = random.uniform() < temper.slips;
    const answer = known === undefined || isSlip ? String(100 + (random.bits() % 900)) : known;
    return { content: `It is at that berth.\nFINAL ANSWER: ${answer}` };
  };
}
