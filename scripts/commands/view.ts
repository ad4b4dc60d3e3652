import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { resolveOutFolder } from '@gaia-mesh/core/system/user-paths.ts';
import { readFileItem, serveFolder } from '@gaia-mesh/evaluation/history/results-folder.ts';
import { argument, defineTable, flag, option, port } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { print, printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { openInBrowser } from '@gaia-mesh/evaluation/watch/open-in-browser.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { defineOptions } from '../command-line/options.ts';

const viewTable = defineTable({
  options: z.object({
    folder: argument(
      '[folder]',
      'browse this folder or file (default: the project root)',
      z.string().optional(),
    ),
    port: option('<n>', 'listen on this port (default: any free)', port.optional()),
    open: flag('open the page in your browser'),
  }),
});

export function view(command: Command): void {
  defineOptions(command, viewTable, run);
}

/** Serves the runs and comparisons of a folder as pages until Ctrl-C. */
async function run({ folder: place, port = 0, open }: z.output<typeof viewTable.options>): Promise<void> {
  const given = resolveOutFolder(place);
  if (!existsSync(given))
    throw new MeshError('usage', `${given} does not exist: make a run with ${formatCommandLine('bench')}`);
  const isFolder = statSync(given).isDirectory();
  const folder = isFolder ? given : path.dirname(given);
  const item = isFolder ? undefined : readFileItem(given);
  const { signal } = handleInterrupt('the view');
  const pages = await serveFolder({ folder, item, port });
  const url = item === undefined ? pages.url : `${pages.url}item/${item.id}/`;
  print(url);
  printError('Ctrl-C ends it');
  if (open) openInBrowser(url);
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await pages.close();
}
