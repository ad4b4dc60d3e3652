import type { BlameFile } from '../../blame/blame-file.ts';
import { REPLACEMENTS } from '../../blame/judge.ts';
import { computeWilson } from '../../statistics/inference/confidence.ts';
import { formatCommandLine } from '../../terminal/shell-word.ts';

/** The chance of a right answer once the messages up to one are as they were, with its 95 % interval. */
interface ChancePoint {
  /** Place of the message; 0 is the question asked anew. */
  readonly place: number;
  readonly chance: number;
  readonly low: number;
  readonly high: number;
}

/** The findings on one question as their page gets them: the file, and the intervals that it does not have. */
export interface BlameView {
  readonly file: BlameFile;
  /** The command line that searches again. */
  readonly command: string;
  readonly chances: readonly ChancePoint[];
  readonly replacements: typeof REPLACEMENTS;
}

export function blameView(file: BlameFile): BlameView {
  const points = [{ place: 0, ...file.outset }, ...file.messages];
  return {
    file,
    command: formatCommandLine('gaia', ['blame', file.task_id, '--team', file.team]),
    replacements: REPLACEMENTS,
    chances: points.map(({ place, chance, tries }) => {
      const { low, high } = computeWilson(Math.round(chance * tries), tries);
      return { place, chance, low, high };
    }),
  };
}
