import {
  type ModelServer,
  type ScriptedReply,
  startModelServer,
} from '@gaia-mesh/tools/fixtures/model-server.ts';
import { onTestFinished } from 'vitest';

/** The beginning of each step's prompt, and a reply that the step accepts. */
const STEPS = {
  search: { opening: 'You search a document', content: { chunks: [0] } },
  extract: { opening: 'You pick sentences', content: { sentences: [0] } },
  triple: {
    opening: 'You state facts as triples',
    content: { triples: [{ sentence: 0, subject: 'Ida', relation: 'built', object: 'the bridge' }] },
  },
  reason: { opening: 'Your task: reason final', content: { sentence: 0, answer: 'Ida' } },
} as const;
type StepName = keyof typeof STEPS;

/** Opens {@link openPipelineModel} and closes it at the end of the test. */
export async function startPipelineModel(
  instead: Partial<Record<StepName, ScriptedReply>> = {},
): Promise<ModelServer> {
  const server = await openPipelineModel(instead);
  onTestFinished(() => server.close());
  return server;
}

/**
 * Opens a scripted model that does the pipeline's four steps; each reply takes 100 tokens in and 10 out. For questions
 * with the word `trouble`, the replies of `instead` win.
 */
export function openPipelineModel(
  instead: Partial<Record<StepName, ScriptedReply>> = {},
): Promise<ModelServer> {
  return startModelServer(({ messages }) => {
    const system = messages[0]?.content ?? '';
    const asked = messages[1]?.content ?? '';
    for (const [name, { opening, content }] of Object.entries(STEPS)) {
      if (!system.startsWith(opening)) continue;
      const other = Object.entries(instead).find(([step]) => step === name)?.[1];
      return asked.includes('trouble') ? { content, ...other } : { content };
    }
    throw new Error(`no step begins its prompt with ${system.slice(0, 60)}`);
  });
}
