import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatRecording } from '@gaia-mesh/core/recording/recording.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import {
  argument,
  choice,
  defineTable,
  flag,
  option,
  output,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { print, printJson } from '@gaia-mesh/evaluation/terminal/print.ts';
import { count, toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';
import { importTraffic, trafficFormats } from '@gaia-mesh/evaluation/traffic/import-traffic.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { defineOptions } from '../command-line/options.ts';

const formatNames = trafficFormats.map(({ name }) => name);

const importTable = defineTable({
  options: z.object({
    file: argument('<file>', 'read this file of JSON or JSON lines (gzip allowed)', z.string()),
    as: option('<format>', 'choose the format (default: detect it)', choice(formatNames).optional()),
    format: option('<format>', 'choose the format, as --as does', choice(formatNames).optional(), {
      isHidden: true,
    }),
    out: option('<file>', 'write the recording to this file', output.file.default('recording.jsonl')),
    json: flag('print the report as JSON'),
  }),
});

export function importCommand(command: Command): void {
  const formats = trafficFormats.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`);
  defineOptions(command, importTable, run).addHelpText('after', `\nFormats:\n${formats.join('\n')}\n`);
}

/** Converts other programs' traffic to a recording, and reports guessed and dropped parts. */
function run({ file, format, as = format, out, json }: z.output<typeof importTable.options>): void {
  const target = resolveUserPath(out);
  if (target === resolveUserPath(file)) throw new MeshError('usage', `--out: ${out} is the file to import`);
  const { recording, report } = importTraffic(resolveUserPath(file), as ?? null);
  checkWritable(path.dirname(target));
  writeWhole(target, formatRecording(recording).join(''));
  if (json) printJson({ ...report, recording: target });
  else for (const line of formatImportReport(report, out)) print(line);
}

/** Maximum names of agents shown; a log may have a thousand. */
const MAX_SHOWN = 12;

function formatImportReport(report: ReturnType<typeof importTraffic>['report'], out: string): string[] {
  const { format, detected_by, packets, tasks, agents, payload_bytes, guessed, dropped } = report;
  const told = detected_by === null ? '' : ` (by ${toOneLine(detected_by, 60)})`;
  const more = agents.length > MAX_SHOWN ? `, and ${agents.length - MAX_SHOWN} more` : '';
  const names = agents
    .slice(0, MAX_SHOWN)
    .map((name) => toOneLine(name, 40))
    .join(', ');
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  - ${toOneLine(line, 200)}`)];
  return [
    `${toOneLine(out, 100)}: ${count(packets)} packets of ${count(tasks)} task${tasks === 1 ? '' : 's'}, read as ${format}${told}`,
    `${count(payload_bytes)} bytes of payload between ${agents.length} agents: ${names}${more}`,
    ...list('Guessed, since the file does not say it:', guessed),
    ...list('Not in the recording:', dropped),
    '',
    `Next: ${formatCommandLine('compare', ['--recording', out])}`,
  ];
}
