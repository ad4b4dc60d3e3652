import type { ErrorCode } from '@gaia-mesh/core/contracts/errors.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import type { BatchEnd } from '@gaia-mesh/evaluation/batch/batch.ts';
import { createRedactor } from '@gaia-mesh/evaluation/batch/redact.ts';

/** The stage of the command's batch: there is none, none of it is on disk yet, or its finished answers are on disk. */
let stage: 'none' | 'planned' | 'begun' = 'none';

/** The queued batch that the command waits for. */
let queued: string | undefined;

/** Faults that the same command would meet again; their messages say what to change. */
const CHANGES_COMMAND: readonly ErrorCode[] = ['usage', 'config', 'locked'];

/** Builds the end of a message about a batch that failed, which says how to go on. */
export const resumption = {
  /** Forgets the batch of an earlier command in this process. */
  reset(): void {
    stage = 'none';
    queued = undefined;
  },
  /** Notes that the batch is on a queue. Returns the command line that waits for it, from any machine. */
  queued(name: string): string {
    queued = name;
    return resumption.command();
  },
  /** Notes that this command runs a batch. */
  plan(): void {
    stage = 'planned';
  },
  /** Notes that finished answers are on disk from now on. */
  begin(): void {
    stage = 'begun';
  },
  /** Returns a sentence that says how to go on after a fault; empty for commands without a batch. */
  hint(code?: ErrorCode): string {
    if (stage === 'none' || (code !== undefined && CHANGES_COMMAND.includes(code))) return '';
    if (stage === 'begun') return `. Finished answers are kept. To go on: ${resumption.command()}`;
    return readWords().includes('--resume')
      ? `. To go on: ${resumption.command()}`
      : `. To ask again: ${resumption.again()}`;
  },
  /** Returns the command line of this process with `--resume`. A used-up limit is left out, since it would end the batch again. */
  command(end?: BatchEnd): string {
    const [name = '', ...options] = readWords();
    if (queued !== undefined) {
      const store = readOption(options, '--store');
      return formatCommandLine(name, ['--resume', queued, '--store', store ?? 'postgres://…']);
    }
    const kept = end?.kind === 'limit' && end.isUsedUp === true ? leaveOutLimits(options) : options;
    return formatCommandLine(name, kept.includes('--resume') ? kept : [...kept, '--resume']);
  },
  /** Returns the command line of this process without `--resume`, which asks everything again. */
  again(): string {
    const [name = '', ...options] = readWords();
    return formatCommandLine(
      name,
      options.filter((word) => word !== '--resume'),
    );
  },
};

function leaveOutLimits(words: readonly string[]): string[] {
  return words.filter((word, at) => {
    const isLimit = (text = '') => /^--max-(?:tokens|cost)$/.test(text);
    return !isLimit(word) && !isLimit(words[at - 1]) && !/^--max-(?:tokens|cost)=/.test(word);
  });
}

function readOption(words: readonly string[], flag: string): string | undefined {
  const at = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  return at === -1 || words[at] !== flag ? words[at]?.slice(flag.length + 1) : words[at + 1];
}

function readWords(): string[] {
  return process.argv.slice(2).map(createRedactor(process.env));
}
