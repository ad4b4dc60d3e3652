import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import type { ToolServices } from '../../tool-services.ts';
import { type AttemptMemory, attemptSchema, gapRecordSchema } from './attempt.ts';

/** Maximum gap records in one brief. With more, a plan is about the hints instead of the question. */
const MAX_HINTS = 5;

const input = z.discriminatedUnion('action', [
  z.object({
    action: z.literal('brief').describe('hints for a question, the most relevant first (OV-16)'),
    question: z.string(),
    question_type: z.string(),
    tools: z.array(z.string()).default([]),
  }),
  z.object({ action: z.literal('attempt'), record: attemptSchema }),
  z.object({ action: z.literal('diagnosis'), attempt_id: z.string(), diagnosis: z.string() }),
  z.object({
    action: z.literal('gap'),
    record: gapRecordSchema,
    attempt_id: z.string(),
    question: z.string(),
    answers: z.array(z.string()),
  }),
]);

/** Creates the tool that stores attempts and gap records and finds those that help with a question. Only the overseer's runner uses it. */
export function createGapStore({ openMemory }: ToolServices): DataTool<z.infer<typeof input>> {
  /** The agent's one store, which stays open. */
  let opened: Promise<AttemptMemory> | undefined;
  const getMemory = (place: string) => {
    opened ??= openMemory(place).catch((error: unknown) => {
      // Opening is tried again with the next call.
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    name: 'gap_store',
    description: 'keeps attempts and what was learned from them, and finds hints for a question',
    input,
    async run(request, { store: place }) {
      if (place === undefined) {
        throw new MeshError(
          'config',
          'this run has no store: start the agent with --store FILE or a postgres:// address',
        );
      }
      const memory = await getMemory(place);
      switch (request.action) {
        case 'brief': {
          const { question, question_type, tools } = request;
          const records = await memory.gapRecords({
            questionType: question_type,
            tools,
            question,
            limit: MAX_HINTS,
          });
          const hints = records.map(({ id, failure_type, point, tool, pattern, cause, advice }) => {
            return { id, failure_type, point, tool, pattern, cause, advice };
          });
          return { text: `${hints.length} hints`, data: { hints } };
        }
        case 'attempt': {
          const attempt_number = await memory.recordAttempt(request.record);
          return { text: `attempt ${attempt_number} at ${request.record.task_id}`, data: { attempt_number } };
        }
        case 'diagnosis': {
          await memory.addDiagnosis(request.attempt_id, request.diagnosis);
          return { text: `diagnosis of ${request.attempt_id}` };
        }
        case 'gap': {
          const { record, attempt_id, question, answers } = request;
          const id = await memory.addGapRecord(record, { attempt_id, question, answers });
          if (id !== undefined) return { text: `gap record ${id}`, data: { stored: true } };
          return {
            text: 'not stored: it reveals the answer or names from the question',
            data: { stored: false },
          };
        }
      }
    },
  };
}
