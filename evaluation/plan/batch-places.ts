import path from 'node:path';
import { userPath } from '@gaia-mesh/core/system/user-paths.ts';

/** What is beside an answers file. */
export function besides(answers: string): { journal: string; stem: string; head: string; report: string } {
  const stem = path.join(path.dirname(answers), path.basename(answers, path.extname(answers)));
  return {
    stem,
    journal: `${answers}.journal`,
    head: `${stem}.batch.json`,
    report: `${stem}.report.html`,
  };
}

/** A file as the user would type it: relative where that is shorter. */
export function shortPath(file: string): string {
  const relative = path.relative(userPath('.'), file);
  return relative.startsWith('..') ? file : relative;
}
