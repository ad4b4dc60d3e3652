import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { DataToolContext } from '../../data-tool.ts';

interface TestPlace extends DataToolContext {
  readonly files: string;
  /** The folder above both, in which the tools may read nothing. */
  readonly outside: string;
}

/** Creates a task's folder with `contents` (name below it → text or bytes) and an agent's; both are deleted after the test. */
export function taskPlace(
  contents: Readonly<Record<string, string | Uint8Array>> = {},
  signal: AbortSignal = new AbortController().signal,
): TestPlace {
  const outside = realpathSync(mkdtempSync(path.join(tmpdir(), 'gaia-files-')));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  const files = path.join(outside, 'files');
  const workspace = path.join(outside, 'workspace');
  for (const folder of [files, workspace]) mkdirSync(folder);
  for (const [name, content] of Object.entries(contents)) {
    const file = path.join(files, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return {
    files,
    workspace,
    outside,
    store: undefined,
    environment: {},
    options: {},
    taskId: 'task',
    signal,
  };
}
