import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';

const LOG = 'reason.log';
const MAX_BYTES = 1024 * 1024;
/** What an agent puts in the place of its log, a pipe or a link, stops nobody. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

const lineSchema = z.object({ task_id: z.string(), evidence: z.string().min(1) });

/** The passage that the agent of `workspace` took its answer to a task from, as its log says; undefined where it says nothing. */
export function findEvidence(workspace: string, taskId: string): string | undefined {
  for (const line of readFileEnd(path.join(workspace, LOG)).split('\n').reverse()) {
    const entry = lineSchema.safeParse(tryParseJson(line));
    if (entry.success && entry.data.task_id === taskId) return entry.data.evidence;
  }
  return undefined;
}

function readFileEnd(file: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, OPEN_FLAGS);
    const bytes = Buffer.alloc(Math.min(fstatSync(descriptor).size, MAX_BYTES));
    const from = fstatSync(descriptor).size - bytes.length;
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, from));
  } catch {
    return ''; // Not every agent that answers keeps one.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
