import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { commaList, defineTable, flag, option } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { formatRevision, listMeasuredPages, markAge } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { print, printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { runCommand, useRunFolder } from './bench-runs.ts';

/** Load above which a machine is not idle. */
const IDLE_LOAD = 1;
/** The load is an average of a minute, so that it falls below the bound within one or two. */
const MAX_WAIT_S = 120;

const resultsTable = defineTable({
  options: z.object({
    list: flag('list the pages: which are older than their subject, and how long they take'),
    only: option(
      '<names>',
      'measure these pages (default: all with a command), e.g. relay,runs',
      commaList.optional(),
    ),
    busy: flag('measure although the machine is busy or the code was changed'),
  }),
});

export function defineResults(command: Command): void {
  defineOptions(command, resultsTable, run);
}

/** Measures the pages of results again, one after the other, each by its own command. */
async function run({ list, only, busy }: z.output<typeof resultsTable.options>): Promise<void> {
  const all = listMeasuredPages().map(([page, how]) => ({ page, name: path.basename(page, '.md'), ...how }));
  const unknown = only?.find((name) => !all.some((page) => page.name === name));
  if (unknown !== undefined)
    throw new MeshError('usage', `--only: ${unknown}; known: ${all.map(({ name }) => name).join(', ')}`);
  const pages = all.filter(({ name }) => only?.includes(name) ?? true);
  if (list) {
    for (const { page, name, command, needs, minutes, any_load: isAnyLoad, subject } of pages) {
      const text = readFileSync(path.join(codeFolder, page), 'utf8');
      const isOld = markAge(page, text, subject).includes('**Older than its subject.**');
      const how = command === undefined ? `needs ${needs}` : `npm run ${command}`;
      const load = isAnyLoad === true ? 'any load' : 'idle';
      print(
        `${name.padEnd(12)} ${isOld ? 'old' : 'new'} ${String(minutes).padStart(3)} min  ${load.padEnd(8)}  ${how}`,
      );
    }
    return;
  }
  const load = readLoad();
  if (!busy && load > IDLE_LOAD && pages.some((page) => page.any_load !== true))
    throw new MeshError(
      'usage',
      `the load is ${load.toFixed(1)}; wait until it is below ${IDLE_LOAD}, or add --busy`,
    );
  const revision = await formatRevision();
  if (!busy && !/^[0-9a-f]+$/.test(revision))
    throw new MeshError(
      'usage',
      `the revision is ${revision}; commit first, so that the pages can name it, or add --busy`,
    );
  await useRunFolder(async (folder, signal) => {
    for (const { name, command, minutes, needs, any_load: isAnyLoad } of pages) {
      signal.throwIfAborted();
      if (command === undefined) {
        printError(`${name}: left out; it needs ${needs}`);
        continue;
      }
      // The load of the page before is over soon.
      for (
        let waited = 0;
        waited < MAX_WAIT_S && !busy && isAnyLoad !== true && readLoad() > IDLE_LOAD;
        waited++
      )
        await sleep(1000, undefined, { signal });
      printError(`${name}: npm run ${command} (about ${minutes} min) …`);
      const [script = '', , ...words] = command.split(' ');
      const own = words.map((word) => word.replace('FOLDER', path.join(folder, name)));
      try {
        await runCommand(script, own);
      } catch (error) {
        signal.throwIfAborted();
        printError(`${name}: ${String(error)}`);
        process.exitCode = 1;
      }
    }
  });
}

function readLoad(): number {
  const [load = 0] = os.loadavg();
  return load;
}
