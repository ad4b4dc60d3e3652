import path from 'node:path';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_LOG_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { AppendFile } from '@gaia-mesh/core/system/files/append-file.ts';
import { makeFolder } from '@gaia-mesh/core/system/files/make-folder.ts';
import { type Attempt, type AttemptKey, getUse } from '../attempts/attempt.ts';
import type { Question } from '../questions/question.ts';
import { listSteps } from '../results/failures/trace-steps.ts';
import type { BatchEvent } from './batch.ts';

/** The symbol at the beginning of each kind of line, by which people and programs tell them apart (RA-55). */
const SYMBOLS = {
  run: '🚀',
  question: '❓',
  file: '📎',
  missing: '⚠️',
  cache: '💾',
  thought: '🧠',
  tool: '🔧',
  right: '✅',
  wrong: '❌',
  answer: '💬',
  failed: '🛑',
  note: 'ℹ️',
} as const;

/**
 * Writes `agent_run_<time>.log`, a log for people. It is derived from the batch's events and results, which are the record
 * (C-28). A line has the time, a symbol, team and question, and a text. Tool calls and reasoning come from the trace.
 */
export class RunLog {
  readonly file: string;
  readonly #target: AppendFile;
  readonly #redact: (text: string) => string;

  /** @throws MeshError `io` when the folder cannot be written */
  constructor(folder: string, redact: (text: string) => string, startedAt = new Date()) {
    const time = startedAt.toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15);
    this.file = path.join(folder, `agent_run_${time}.log`);
    this.#redact = redact;
    try {
      makeFolder(folder);
    } catch (error) {
      throw new MeshError('io', `log ${this.file}: ${toErrorMessage(error)}`, { cause: error });
    }
    this.#target = new AppendFile(this.file, {
      what: 'log',
      durability: 'each',
      maxBytes: MAX_LOG_BYTES,
      formatEnding: (bound) =>
        `${new Date().toISOString()} ${SYMBOLS.note} the log reached ${bound}; what follows is not kept\n`,
    });
    this.#line(
      'run',
      '',
      Object.entries(SYMBOLS)
        .map(([kind, symbol]) => `${symbol} ${kind}`)
        .join('  '),
    );
  }

  note(text: string): void {
    this.#line('note', '', text);
  }

  /** Logs an error with its stack, because it may not be reproducible (RA-56). */
  error(error: unknown): void {
    this.#line('failed', '', error instanceof Error ? (error.stack ?? error.message) : String(error));
  }

  event(event: BatchEvent): void {
    switch (event.kind) {
      case 'kept':
        this.#line('note', formatAttempt(event.attempt), 'finished in an earlier run');
        break;
      case 'asked':
        this.#asked(event.team, event.cycle, event.question);
        break;
      case 'cache':
        this.#line('cache', `${event.team} ${event.question.taskId}`, event.isHit ? 'hit' : 'miss');
        break;
      case 'finished':
        this.#finished(event.attempt);
        break;
      case 'workers':
        break;
    }
  }

  close(): void {
    this.#target.close();
  }

  #asked(team: string, cycle: number, { taskId, level, question, attachment }: Question): void {
    const who = formatAttempt({ team, cycle, task_id: taskId });
    this.#line('question', who, `${level === undefined ? '' : `level ${level}: `}${question}`);
    if (attachment?.status === 'placed')
      this.#line('file', who, `${attachment.name}, ${attachment.bytes} bytes, from ${attachment.from}`);
    if (attachment?.status === 'missing')
      this.#line('missing', who, `${attachment.name}: ${attachment.reason}`);
  }

  #finished(attempt: Attempt): void {
    const who = formatAttempt(attempt);
    for (const { text, isToolCall } of listSteps(attempt.reasoning_trace))
      this.#line(isToolCall ? 'tool' : 'thought', who, text);
    const { tokens, cost, seconds } = getUse(attempt);
    const { model_calls = 0, cached } = attempt;
    const took = cached
      ? `from the cache in ${seconds} s`
      : `${tokens === null ? 'tokens not known' : `${tokens} tokens`}, ${cost === null ? 'cost not known' : `$${cost}`}, ${model_calls} model calls, ${seconds} s`;
    if (attempt.status !== 'answered') {
      const role = attempt.failed_role === undefined ? '' : ` (${attempt.failed_role})`;
      this.#line('failed', who, `${attempt.status}${role}: ${attempt.reason ?? ''}; ${took}`);
      return;
    }
    const kind = attempt.correct === null ? 'answer' : attempt.correct ? 'right' : 'wrong';
    this.#line(kind, who, `${attempt.final_answer}; ${took}`);
  }

  #line(kind: keyof typeof SYMBOLS, who: string, text: string): void {
    const time = new Date().toISOString();
    const more = this.#redact(text).replaceAll(/\r?\n/g, '\n    ');
    // Text from agents must not control the terminal of a reader.
    const plain = more.replaceAll(/[^\P{Cc}\n]/gu, ' ');
    const line = `${time} ${SYMBOLS[kind]} ${who === '' ? '' : `[${who}] `}${plain}\n`;
    this.#target.append(Buffer.from(line));
  }
}

function formatAttempt({ team, cycle, task_id }: AttemptKey): string {
  return `${team} ${task_id}${cycle === 1 ? '' : ` cycle ${cycle}`}`;
}
