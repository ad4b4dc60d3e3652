import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import { openBatch, summarizeTeams } from '../batch/finished-batch.ts';
import { blameSchema } from '../blame/blame-file.ts';
import { readComparison } from '../compare/comparison-file.ts';
import { readBatchData } from './batch-data.ts';
import type { ReportData } from './page-data.ts';
import { readArchivedRun } from './run/archived-run.ts';
import { buildRunData } from './run/run-data.ts';

/** A file with a result of this program. */
export interface ResultFile {
  readonly kind: ReportData['kind'];
  /** The archive of a run, the answers of a batch or a file beside them, `comparison.json` or `blame.json`. */
  readonly file: string;
}

/** Findings have at most 200 messages, each shortened. */
const BLAME_BOUNDS = { what: 'findings', maxBytes: 16 * 1024 * 1024 };

/** @throws MeshError if the file is missing, damaged or of another kind */
export async function readReport({ kind, file }: ResultFile): Promise<ReportData> {
  switch (kind) {
    case 'run':
      return { kind, run: buildRunData(await readArchivedRun(file)) };
    case 'comparison':
      return { kind, comparison: readComparison(file) };
    case 'blame':
      return {
        kind,
        blame: parseJsonLine(readUserText(file, BLAME_BOUNDS), blameSchema, `findings ${file}`),
      };
    case 'batch': {
      const batch = openBatch(file);
      try {
        return { kind, batch: readBatchData({ batch, summaries: summarizeTeams(batch) }) };
      } finally {
        batch.close();
      }
    }
  }
}
