import path from 'node:path';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';

/** Returns the paths of the files beside an answers file. */
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

/** Returns a path as the user would type it: relative if the file is below the user's folder. */
export function shortenPath(file: string): string {
  const relative = path.relative(resolveUserPath('.'), file);
  return relative.startsWith('..') ? file : relative;
}
