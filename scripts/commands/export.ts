import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { MeshError } from '../../core/contracts/errors.ts';
import { userPath } from '../../core/system/user-paths.ts';
import { exportFormat, exportFormats } from '../../evaluation/export/formats.ts';
import { print } from '../../evaluation/terminal/print.ts';
import { lastArchive } from '../command-line/last-run.ts';

interface ExportCommandOptions {
  readonly as: string;
  readonly out?: string;
}

export function exportCommand(command: Command): void {
  const formats = [...exportFormats].map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`);
  command
    .argument('[archive]', 'export this archive, recording or comparison.json (default: the last run)')
    .requiredOption('--as <format>', 'choose the format, see below')
    .option('--out <place>', 'write to this file, folder or address')
    .addHelpText('after', `\nFormats:\n${formats.join('\n')}\n`)
    .action(run);
}

/** Writes a run as other tools read it. */
async function run(archive: string | undefined, { as, out }: ExportCommandOptions): Promise<void> {
  const format = exportFormat(as);
  print(await format.write(archiveOf(archive), out ?? format.out));
}

function archiveOf(archive: string | undefined): string {
  if (archive === undefined) return lastArchive();
  const file = userPath(archive);
  if (existsSync(file)) return file;
  throw new MeshError('config', `${file}: there is no such file`);
}
