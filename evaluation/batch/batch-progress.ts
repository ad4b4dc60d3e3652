import { createStyles } from '../terminal/print.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';
import { toOneLine } from '../terminal/table.ts';
import type { BatchEvent } from './batch.ts';

/** Progress of a running batch, shown on standard error. */
interface BatchProgress {
  event(event: BatchEvent): void;
  note(text: string): void;
  end(): void;
}

/**
 * Creates a bar that fills as questions end.
 *
 * @param namesMissing reports each missing file when its question is asked; false if the caller has reported them already
 */
export async function createBatchProgress(
  total: number,
  namesMissing: boolean,
  what = 'questions',
): Promise<BatchProgress> {
  const { yellow } = createStyles(process.stderr);
  const bar = await ProgressBar.start(total, what);
  let kept = 0;
  let answered = 0;
  let right = 0;
  const advance = () =>
    bar.advance(...(kept > 0 ? [`${kept} from before`] : []), `${answered} answered`, `${right} right`);
  return {
    note: (text) => bar.note(text),
    event(event) {
      if (event.kind === 'kept') {
        kept += 1;
        advance();
      } else if (event.kind === 'finished') {
        if (event.attempt.status === 'answered') answered += 1;
        if (event.attempt.correct === true) right += 1;
        advance();
      } else if (namesMissing && event.kind === 'asked' && event.question.attachment?.status === 'missing') {
        const { name, reason } = event.question.attachment;
        bar.note(yellow(toOneLine(`${event.question.taskId}: ${name} is missing: ${reason}`, 400)));
      }
    },
    end: () => bar.end(),
  };
}
