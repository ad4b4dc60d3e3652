import { readFileSync } from 'node:fs';

import { Branches } from '../../core/agent/branches.ts';
import type { SessionOptions } from '../../core/agent/session-options.ts';
import type { Engine } from '../../core/contracts/engine.ts';
import { branchFileSchema } from '../../core/recording/branch-file.ts';
import { parseJsonLine } from '../../core/system/json-line.ts';
import { branchEngine } from '../../tools/engines/branch-engine.ts';
import type { EngineOptions } from '../../tools/engines/registry.ts';

/**
 * What makes agent `id` repeat its tasks up to where they branch off, by the file that says so.
 *
 * @throws MeshError `config`
 */
export function branching(
  file: string,
  id: string,
  live: Engine,
  prompts: EngineOptions['prompts'],
): Pick<SessionOptions, 'engine' | 'rewrite'> {
  const branches = new Branches(parseJsonLine(readFileSync(file, 'utf8'), branchFileSchema, file), id);
  return {
    engine: branchEngine(live, branches, prompts),
    rewrite: (emission, cause) => branches.rewrite(emission, cause),
  };
}
