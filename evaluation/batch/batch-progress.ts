import { complain } from '../terminal/print.ts';
import { stylesFor } from '../terminal/style.ts';
import { oneLine } from '../terminal/table.ts';
import type { BatchEvent } from './batch.ts';

/** What a person sees on standard error while a batch is on. */
interface BatchProgress {
  event(event: BatchEvent): void;
  note(text: string): void;
  end(): void;
}

/**
 * A bar that fills as questions end. Off a terminal: a line every tenth of the way.
 *
 * @param namesMissing files that are missing are named when their question is asked; without it somebody has named them before
 */
export async function batchProgress(total: number, namesMissing: boolean): Promise<BatchProgress> {
  const { yellow } = stylesFor(process.stderr);
  const { Presets, SingleBar } = await import('cli-progress');
  const bar = process.stderr.isTTY
    ? new SingleBar(
        {
          format: '  {bar} {value}/{total} questions · {answered} answered · {right} right · {eta} s left',
          stream: process.stderr,
          hideCursor: true,
        },
        Presets.shades_classic,
      )
    : undefined;
  bar?.start(total, 0, { answered: 0, right: 0 });
  let done = 0;
  let kept = 0;
  let answered = 0;
  let right = 0;
  const note = (text: string) => {
    if (bar !== undefined) process.stderr.write('\r\u001b[K');
    complain(text);
  };
  const advance = () => {
    done += 1;
    bar?.update(done, { answered, right });
    if (bar === undefined && done % Math.max(1, Math.ceil(total / 10)) === 0)
      note(
        `${done}/${total} questions${kept > 0 ? `, ${kept} from before` : ''}, ${answered} answered, ${right} right`,
      );
  };
  return {
    note,
    event(event) {
      if (event.kind === 'kept') {
        kept += 1;
        advance();
      } else if (event.kind === 'finished') {
        if (event.result.status === 'answered') answered += 1;
        if (event.result.correct === true) right += 1;
        advance();
      } else if (namesMissing && event.kind === 'asked' && event.question.attachment?.status === 'missing') {
        const { name, reason } = event.question.attachment;
        note(yellow(oneLine(`${event.question.taskId}: ${name} is missing: ${reason}`, 400)));
      }
    },
    end: () => bar?.stop(),
  };
}
