import * as z from 'zod';
import { MeshError } from '../../core/errors.ts';
import { attemptSchema } from '../../store/attempt.ts';
import { gapRecordSchema } from '../../store/gap-record.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import type { DataTool } from '../data-tool.ts';

/** Gap records in one brief. More than a handful and a plan is about the hints instead of the question. */
const MAX_HINTS = 5;

const input = z.discriminatedUnion('action', [
  z.object({
    action: z.literal('brief').describe('hints for a question, the most relevant first (OV-16)'),
    question: z.string(),
    question_type: z.string(),
  }),
  z.object({ action: z.literal('attempt'), record: attemptSchema }),
  z.object({
    action: z.literal('gap'),
    record: gapRecordSchema,
    attempt_id: z.string(),
    question: z.string(),
    answers: z.array(z.string()),
  }),
]);

/** Of this process: an agent has one store, and keeps it open. */
const opened = new Map<string, Promise<Store>>();

function storeAt(url: string): Promise<Store> {
  let store = opened.get(url);
  if (store === undefined) {
    store = openStore(url, { warn: (message) => console.error(message) });
    // One that could not be opened is tried again.
    store.catch(() => opened.delete(url));
    opened.set(url, store);
  }
  return store;
}

/** Keeps attempts and gap records, and finds those that help with a question. It is for the overseer's runner, not for models. */
export const gapStore: DataTool<z.infer<typeof input>> = {
  name: 'gap_store',
  description: 'keeps attempts and what was learned from them, and finds hints for a question',
  input,
  async run(request, { store: url }) {
    if (url === undefined) {
      throw new MeshError(
        'config',
        'this run has no store: start the agent with --store FILE or a postgres:// address',
      );
    }
    const store = await storeAt(url);
    switch (request.action) {
      case 'brief': {
        const { question, question_type } = request;
        const records = await store.gapRecords({ questionType: question_type, question, limit: MAX_HINTS });
        const hints = records.map(({ id, pattern, cause, advice }) => ({ id, pattern, cause, advice }));
        return { text: `${hints.length} hints`, data: { hints } };
      }
      case 'attempt': {
        const attempt_number = await store.recordAttempt(request.record);
        return { text: `attempt ${attempt_number} at ${request.record.task_id}`, data: { attempt_number } };
      }
      case 'gap': {
        const { record, attempt_id, question, answers } = request;
        const receipt = await store.addGapRecord(record, { attempt_id, question, answers });
        return receipt.stored
          ? { text: `gap record ${receipt.id}`, data: { stored: true } }
          : { text: 'not stored: it tells the answer, or what the question names', data: { stored: false } };
      }
    }
  },
};
