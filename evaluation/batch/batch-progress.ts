import type { Attempt } from '../attempts/attempt.ts';
import { createStyles } from '../terminal/print.ts';
import { createAlarms, type Progress } from '../terminal/progress.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';
import { toOneLine } from '../terminal/table.ts';
import type { BatchEvent } from './batch.ts';

/** Progress of a running batch, shown on standard error. */
interface BatchProgress extends Progress {
  event(event: BatchEvent): void;
  /** Changes the number of questions. */
  setTotal(total: number): void;
}

/**
 * Creates a bar that fills as questions end.
 *
 * @param what the questions, in the plural
 * @param namesMissing reports each missing file when its question is asked; false if the caller has reported them already
 */
export async function createBatchProgress(
  total: number,
  what: string,
  namesMissing = false,
): Promise<BatchProgress> {
  const styles = createStyles(process.stderr);
  const bar = await ProgressBar.start(total, what);
  let answered = 0;
  let answeredBefore = 0;
  let right = 0;
  let workers: string[] = [];
  const advance = ({ status, correct }: Attempt, isKept: boolean) => {
    if (status === 'answered') {
      answered += 1;
      if (isKept) answeredBefore += 1;
    }
    if (correct === true) right += 1;
    const before = answeredBefore === 0 ? '' : ` (${answeredBefore} before)`;
    bar.advance(`${answered} answered${before}`, `${right} right`, ...workers);
  };
  const note = (text: string) => bar.note(text);
  return {
    note,
    observer: createAlarms({ say: note, styles }),
    event(event) {
      if (event.kind === 'kept' || event.kind === 'finished') {
        advance(event.attempt, event.kind === 'kept');
      } else if (event.kind === 'workers') {
        const running = event.workers.reduce((sum, worker) => sum + worker.running, 0);
        workers = [`${event.workers.length} workers, ${running} running`];
      } else if (namesMissing && event.kind === 'asked' && event.question.attachment?.status === 'missing') {
        const { name, reason } = event.question.attachment;
        bar.note(styles.yellow(toOneLine(`${event.question.taskId}: ${name} is missing: ${reason}`, 400)));
      }
    },
    setTotal(total) {
      bar.total = total;
    },
    end: () => bar.end(),
  };
}
