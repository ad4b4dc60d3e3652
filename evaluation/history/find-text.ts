import * as z from 'zod';
import { MeshError } from '../../core/contracts/errors.ts';
import { readArchivedTexts } from '../../core/recording/read-archive.ts';
import { RECORDING_FILE } from '../../core/recording/recording.ts';
import { jsonIn } from '../../core/system/json-line.ts';
import { openBatch } from '../batch/finished-batch.ts';
import { attemptId } from '../questions/question.ts';
import { oneLine } from '../terminal/table.ts';
import type { FolderItem, Found, Search } from './folder-view.ts';

const MAX_FOUND = 100;
const MAX_OF_ITEM = 20;
const MAX_SEARCH_MS = 20_000;
/** Of one recording, unpacked. */
const MAX_BYTES = 256 * 1024 * 1024;
const AROUND = 60;
const MIN_LENGTH = 2;
const MAX_LENGTH = 200;

/** Looks for a text, whatever its case, in the packets of runs and in the questions, answers and reasoning of batches. */
export async function findText(
  items: readonly FolderItem[],
  text: string,
  now = () => performance.now(),
): Promise<Search> {
  const wanted = text.trim().toLowerCase();
  if (wanted.length < MIN_LENGTH || wanted.length > MAX_LENGTH)
    return { found: [], cut: `a text has ${MIN_LENGTH} to ${MAX_LENGTH} characters` };
  const deadlineMs = now() + MAX_SEARCH_MS;
  const found: Found[] = [];
  const unread: string[] = [];
  for (const item of items) {
    if (found.length >= MAX_FOUND)
      return { found: found.slice(0, MAX_FOUND), cut: `only the first ${MAX_FOUND} are shown` };
    if (now() > deadlineMs)
      return { found, cut: `the search took ${MAX_SEARCH_MS / 1000} s, and not everything was looked at` };
    try {
      if (item.kind === 'run') found.push(...(await inRun(item, wanted)));
      if (item.kind === 'batch') found.push(...inBatch(item, wanted));
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      unread.push(item.place);
    }
  }
  const cut = unread.length === 0 ? null : `could not be read: ${oneLine(unread.join(', '), 200)}`;
  return { found: found.slice(0, MAX_FOUND), cut };
}

const recordedSchema = z.looseObject({
  packet: z.looseObject({ id: z.string(), type: z.string(), from: z.string(), task_id: z.string() }),
});

async function inRun(item: FolderItem, wanted: string): Promise<Found[]> {
  const texts = await readArchivedTexts(item.file, (name) => name === RECORDING_FILE, MAX_BYTES);
  const recording = texts?.get(RECORDING_FILE) ?? '';
  const found: Found[] = [];
  for (const line of linesWithText(recording, wanted)) {
    if (found.length >= MAX_OF_ITEM) break;
    const parsed = recordedSchema.safeParse(jsonIn(line));
    if (!parsed.success) continue;
    const { id, type, from, task_id } = parsed.data.packet;
    const values = new URLSearchParams({ open: `packet:${from}:${id}`, question: task_id });
    found.push({
      ...{ item: item.id, place: item.place, kind: 'packet', name: oneLine(`${type} ${id}`, 80) },
      ...{ excerpt: excerptOf(line, wanted), hash: `#${values}` },
    });
  }
  return found;
}

function inBatch(item: FolderItem, wanted: string): Found[] {
  const batch = openBatch(item.file);
  const found: Found[] = [];
  try {
    for (const { taskId, question } of batch.questions) {
      for (const { name } of batch.head.teams) {
        for (let cycle = 1; cycle <= batch.head.repeat; cycle++) {
          if (found.length >= MAX_OF_ITEM) return found;
          const result = batch.read({ task_id: taskId, team: name, cycle });
          const whole = [taskId, question, result?.final_answer, result?.reasoning_trace].join('\n');
          if (!whole.toLowerCase().includes(wanted)) continue;
          const values = new URLSearchParams({ open: `question:${attemptId(taskId, cycle)}` });
          found.push({
            ...{
              item: item.id,
              place: item.place,
              kind: 'question',
              name: oneLine(`${name}: ${taskId}`, 80),
            },
            ...{ excerpt: excerptOf(whole, wanted), hash: `#${values}` },
          });
        }
      }
    }
    return found;
  } finally {
    batch.close();
  }
}

/** Lines that hold a text whatever its case; the whole is not made twice. */
function* linesWithText(text: string, wanted: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? undefined : end);
    if (line.toLowerCase().includes(wanted)) yield line;
    if (end < 0) return;
    start = end + 1;
  }
}

function excerptOf(text: string, wanted: string): string {
  const at = text.toLowerCase().indexOf(wanted);
  return oneLine(text.slice(Math.max(0, at - AROUND), at + wanted.length + AROUND), 2 * AROUND + MAX_LENGTH);
}
