import type { FinishedBatch } from '../../batch/finished-batch.ts';
import { summarizeTeams } from '../../batch/finished-batch.ts';
import type { BatchHead } from '../../batch/journal/batch-head.ts';
import { attemptOf, questionOf } from '../../batch/testing/results.ts';
import type { readBatchData } from '../batch-data.ts';

interface SampleBatchOptions {
  readonly teams?: readonly string[];
  readonly questions?: number;
  readonly repeat?: number;
  readonly pairs?: BatchHead['pairs'] | undefined;
  /** A text that is added to every text of questions, answers and tools. */
  readonly text?: string;
  /** Returns the outcome of an attempt; undefined for a question that was not asked. */
  readonly result: (attempt: {
    team: string;
    index: number;
    cycle: number;
  }) => Parameters<typeof attemptOf>[1];
}

/** Creates a batch as it would be read from its files. */
function sampleBatch(options: SampleBatchOptions): FinishedBatch {
  const {
    teams = ['single', 'supervisor'],
    questions = 4,
    repeat = 1,
    pairs = 'baseline',
    text = '',
    result,
  } = options;
  const asked = Array.from({ length: questions }, (_, index) =>
    questionOf(`q-${index}`, {
      question: `What is ${index}? ${text}`,
      level: String(1 + (index % 2)),
      category: index % 2 === 0 ? 'text' : `table${text}`,
      truths: [`${index}${text}`],
      fileName: index % 2 === 0 ? undefined : `f-${index}${text}.xlsx`,
    }),
  );
  const head: BatchHead = {
    schema_version: 2,
    gaia_mesh: '0.1.0',
    command: 'npm run gaia -- --team all',
    machine: 'a processor, 2 cores, Node v24',
    answers: 'answers.jsonl',
    journal: 'answers.jsonl.journal',
    source: `/home/me/questions${text.replaceAll('/', '')}.jsonl`,
    repeat,
    pairs,
    setup: { questions: 'sha' },
    teams: teams.map((name) => ({
      ...{ name, description: text, engine: 'extractive', model: null, adapter: 'json', routing: 'direct' },
      ...{ agents: 3, concurrency: 4 },
    })),
    questions: asked.map(({ taskId, ...question }) => ({
      task_id: taskId,
      question: question.question,
      level: question.level,
      category: question.category,
      truths: [...question.truths],
      file_name: question.fileName,
    })),
  };
  const places = new Map(asked.map(({ taskId }, index) => [taskId, index]));
  const read: FinishedBatch['read'] = ({ task_id, team, cycle }) => {
    const index = places.get(task_id) ?? 0;
    const more = result({ team, index, cycle });
    const question = asked[index];
    if (more === undefined || question === undefined) return undefined;
    return attemptOf(task_id, {
      ...{ team, cycle, category: question.category, level: String(1 + (index % 2)) },
      final_answer: `${index}${text}`,
      reasoning_trace: `1. ${team}: looks at it${text}\n2. ${team}: calculator({"expression":"${index}"}) → ${index}${text}`,
      tool_calls: [{ tool: `calculator${text}`, count: 1, failed: index % 3 === 0 ? 1 : 0 }],
      ...more,
    });
  };
  return { head, questions: asked, read };
}

export function sampleSource(options: SampleBatchOptions): Parameters<typeof readBatchData>[0] {
  const batch = sampleBatch(options);
  return { batch, summaries: summarizeTeams(batch) };
}
