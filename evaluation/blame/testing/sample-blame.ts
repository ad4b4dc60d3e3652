import type { BlameFile } from '../blame-file.ts';

type BlamedMessage = BlameFile['messages'][number];

/** Creates findings of a search: the third of four messages made the answer wrong. */
export function sampleBlame(text = 'The keeper was Bo Lind.'): BlameFile {
  const messages = [
    sampleMessage(1, { from: 'hub', type: 'doc_init', chance: 0.8, again: 0.8, verdict: 'no effect' }),
    sampleMessage(2, { from: 'planner', type: 'plan', chance: 0.75, again: 0.7, verdict: 'no effect' }),
    sampleMessage(3, {
      from: 'solver',
      type: text,
      chance: 0.05,
      again: 0.75,
      verdict: 'made the answer wrong',
    }),
    sampleMessage(4, { from: 'judge', type: 'answer', chance: 0, again: 0.05, verdict: 'cannot tell' }),
  ];
  return {
    schema_version: 1,
    complete: true,
    task_id: 'q-3',
    question: `Who kept light 3? ${text}`,
    truth: 'Ada Orn',
    answer: text,
    correct: false,
    team: 'supervisor',
    engine: 'extractive',
    model: null,
    archive: 'answers.runs/supervisor/run_artifacts.tar.gz',
    tries: 5,
    margin: 0.25,
    branches: {
      asked: 120,
      right: 60,
      departed: 2,
      failed: 3,
      tokens: 12_345,
      own_tokens: 900,
      cost: 0.0123,
    },
    departed: 'agent 1 sent another packet first',
    outset: { chance: 0.8, tries: 20 },
    messages: messages.map((message) => ({ ...message, says: text })),
    blamed: [3],
    headline: 'Message 3 made the answer wrong: said again, it is right in 75 % of the tries instead of 5 %.',
    measured_at: '2026-11-25T07:31:09.000Z',
    command: 'npm run gaia -- blame q-3',
    machine: 'a processor, 2 cores, Node v24',
  };
}

interface SampleMessage extends Pick<BlamedMessage, 'from' | 'type' | 'chance' | 'verdict'> {
  /** The chance where the sender speaks again. */
  readonly again: number;
}

function sampleMessage(place: number, { again, ...message }: SampleMessage): Omit<BlamedMessage, 'says'> {
  const effect = (chance: number) => {
    const difference = chance - message.chance;
    return { chance, difference, low: difference - 0.2, high: difference + 0.2, adjusted_p: 0.01 };
  };
  return {
    ...message,
    place,
    id: `${message.from}-${place}`,
    to: null,
    tries: 20,
    again: effect(again),
    own: effect(0.1),
    detectable: 0.4,
    replaced: place === 2 ? { truth: effect(0.95) } : {},
  };
}
