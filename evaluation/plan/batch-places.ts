import path from 'node:path';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';

/** What is beside an answers file. */
export function deriveBatchPaths(answers: string): {
  journal: string;
  stem: string;
  head: string;
  report: string;
} {
  const stem = path.join(path.dirname(answers), path.basename(answers, path.extname(answers)));
  return {
    stem,
    journal: `${answers}.journal`,
    head: `${stem}.batch.json`,
    report: `${stem}.report.html`,
  };
}

/** A file as the user would type it: relative where that is shorter. */
export function shortenPath(file: string): string {
  const relative = path.relative(resolveUserPath('.'), file);
  return relative.startsWith('..') ? file : relative;
}
