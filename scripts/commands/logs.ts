import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_LOG_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { runEventSchema } from '@gaia-mesh/core/run/run-event.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { resolveOutFolder } from '@gaia-mesh/core/system/user-paths.ts';
import { defineTable, flag, option, text } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { createStyles, print } from '@gaia-mesh/evaluation/terminal/print.ts';
import { count, toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';
import { describeTrouble } from '@gaia-mesh/evaluation/terminal/trouble.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { defineOptions } from '../command-line/options.ts';
import { createNoRunError } from '../command-line/result-folder.ts';

const logsTable = defineTable({
  options: z.object({
    out: option('<dir>', 'read the run in this folder (default: the project root)', text.optional()),
    task: option('<id>', 'print the lines of one task only', text.optional()),
    payloads: flag('print packet contents too'),
    json: flag('print the original JSON lines'),
  }),
});

const lineSchema = z.looseObject({ time: z.number() });
type Line = z.infer<typeof lineSchema> & { readonly log: string };

export function defineLogs(command: Command): void {
  defineOptions(command, logsTable, run);
}

/** Prints the logs of all agents and the hub as one, in order of time. */
function run(options: z.output<typeof logsTable.options>): void {
  const folder = path.join(resolveOutFolder(options.out), 'workspaces');
  if (!existsSync(folder)) throw createNoRunError(path.dirname(folder));
  const all = logFiles(folder).flatMap(([name, file]) => readLogLines(name, file));
  const lines = all
    .filter((line) => options.task === undefined || line.task_id === options.task)
    .sort((a, b) => a.time - b.time);
  if (lines.length === 0 && options.task !== undefined) throw createNoTaskError(options.task, all);
  const [first] = lines;
  for (const line of lines) {
    if (options.json) print(JSON.stringify(line));
    else for (const shown of formatLogLine(line, first?.time ?? 0, options.payloads)) print(shown);
  }
}

/** Maximum tasks that a message names. */
const SHOWN_TASKS = 10;

function createNoTaskError(task: string, lines: readonly Line[]): MeshError {
  const tasks = [...new Set(lines.flatMap(({ task_id }) => (typeof task_id === 'string' ? [task_id] : [])))];
  const shown = tasks.slice(0, SHOWN_TASKS).join(', ');
  const more = tasks.length > SHOWN_TASKS ? `, and ${tasks.length - SHOWN_TASKS} more` : '';
  const known = tasks.length === 0 ? 'the logs name none' : `the logs name ${shown}${more}`;
  return new MeshError('usage', `--task ${task}: no line is about this task; ${known}`);
}

function logFiles(folder: string): [name: string, file: string][] {
  const agents = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const files = agents.map((entry): [string, string] => [
    entry.name,
    path.join(folder, entry.name, 'agent.log'),
  ]);
  return [['hub', path.join(folder, 'hub.log')] as [string, string], ...files].filter(([, file]) =>
    existsSync(file),
  );
}

function readLogLines(log: string, file: string): Line[] {
  return readUserText(file, { what: 'log', maxBytes: MAX_LOG_BYTES })
    .split('\n')
    .flatMap((text) => {
      // The last line of an agent that was killed may be cut.
      const line = lineSchema.safeParse(tryParseJson(text));
      return line.success ? [{ ...line.data, log }] : [];
    });
}

function formatLogLine(line: Line, startTime: number, showsPayloads: boolean): string[] {
  const { dim, cyan, yellow } = createStyles(process.stdout);
  const { level, time, log, dir, event, bytes, type, from, to, id, task_id, cause, tag, payload, ...rest } =
    line;
  const at = dim(`${(time - startTime).toFixed(2).padStart(10)} ms`);
  const who = String(log).padEnd(5);
  const what = String(dir ?? event ?? '').padEnd(9);
  const packet =
    type === undefined ? '' : ` ${cyan(String(type).padEnd(12))} ${dim(String(id))} ${from} → ${to ?? 'all'}`;
  const size = typeof bytes === 'number' ? ` ${count(bytes)} B` : '';
  const because = cause === undefined ? '' : ` ${dim(`because of ${cause}`)}`;
  const tagged = tag === undefined ? '' : ` [${tag}]`;
  const hubEvent = log === 'hub' ? runEventSchema.safeParse(line).data : undefined;
  const trouble = hubEvent && describeTrouble(hubEvent);
  const others =
    type === undefined
      ? ` ${toOneLine(trouble ?? JSON.stringify({ ...omitUndefined({ task_id }), ...rest }), 300)}`
      : '';
  const text = `${at}  ${who} ${what}${packet}${tagged}${size}${because}${others}`;
  const shown = level === 'warn' ? yellow(text) : text;
  return showsPayloads && payload !== undefined
    ? [shown, `${' '.repeat(14)}${toOneLine(JSON.stringify(payload), 2000)}`]
    : [shown];
}
