import { type StoredGapRecord, waitsForReview } from '../../../tools/roles/memory/gap-record.ts';
import type { Styles } from '../../terminal/style.ts';
import { oneLine } from '../../terminal/table.ts';

/** Longest text that is shown of a part of a record; the store takes a little more. */
const COLUMNS = 2_000;

/** Gap records as a person reads them before deciding. Models wrote them: no character of them drives the terminal. */
export function gapList(records: readonly StoredGapRecord[], { bold }: Styles): string {
  return records.map((record) => block(record, bold)).join('\n\n');
}

function block(record: StoredGapRecord, bold: (text: string) => string): string {
  const {
    id,
    kind,
    question_type,
    failure_type,
    point,
    tool,
    pattern,
    cause,
    advice,
    attempt_id,
    created_at,
  } = record;
  const place = point === 'unknown' ? '' : ` (${point})`;
  const at = tool === '' ? place : `${place} at ${oneLine(tool, COLUMNS)}`;
  const from = attempt_id === null ? 'a person' : `attempt ${attempt_id}`;
  return [
    `${bold(`${id}  ${kind}`)}  ${stateOf(record)}`,
    `    of ${oneLine(question_type, COLUMNS)} questions, after a ${failure_type}${at}; by ${oneLine(from, COLUMNS)}, ${created_at}`,
    `    pattern  ${oneLine(pattern, COLUMNS)}`,
    `    cause    ${oneLine(cause, COLUMNS)}`,
    `    advice   ${oneLine(advice, COLUMNS)}`,
  ].join('\n');
}

/** In words, since a hint that is only proposed is in use already. */
function stateOf(record: StoredGapRecord): string {
  if (record.status === 'rejected') return 'rejected';
  if (waitsForReview(record)) return 'waits for you';
  return record.status === 'approved' ? 'approved' : 'in use';
}
