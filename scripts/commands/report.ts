import path from 'node:path';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { resolveOutFolder, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { readFileItem } from '@gaia-mesh/evaluation/history/results-folder.ts';
import { argument, defineTable, option, output } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { fillPage } from '@gaia-mesh/evaluation/report/page-html.ts';
import { type ResultFile, readReport } from '@gaia-mesh/evaluation/report/report.ts';
import { print, printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { count } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { defineOptions } from '../command-line/options.ts';
import { findArchive } from '../command-line/result-folder.ts';

const reportTable = defineTable({
  options: z.object({
    file: argument(
      '[file]',
      'show this archive, JSON file or batch (default: last run)',
      z.string().optional(),
    ),
    out: option('<file>', 'write the page to this file (default: report.html)', output.file.optional()),
  }),
});

export function defineReport(command: Command): void {
  defineOptions(command, reportTable, run);
}

/** Writes a run, a comparison, a batch of questions or findings of `gaia blame` as one HTML file that opens from disk, and prints its name. */
async function run({ file: typed, out }: z.output<typeof reportTable.options>): Promise<void> {
  const result = findResult(typed);
  const { html } = fillPage(await readReport(result));
  const file = out === undefined ? chooseFile(result) : resolveUserPath(out);
  checkWritable(path.dirname(file));
  writeWhole(file, html);
  printError(`written: ${count(Buffer.byteLength(html) / 1000)} kB`);
  print(file);
}

/** Finds the result to show. A folder stands for the archive of the run in it. */
function findResult(typed: string | undefined): ResultFile {
  const file = findArchive(typed);
  const isNamed = typed !== undefined && file === resolveUserPath(typed);
  return isNamed ? readFileItem(file) : { kind: 'run', file };
}

/** Chooses the file of a page: that of a batch stands beside its head. */
function chooseFile({ kind, file }: ResultFile): string {
  return kind === 'batch'
    ? file.replace(/\.batch\.json$/, '.report.html')
    : path.join(resolveOutFolder(), 'report.html');
}
