import { readFileSync } from 'node:fs';

import { Branches } from '@gaia-mesh/core/agent/branches.ts';
import type { AgentOptions } from '@gaia-mesh/core/agent/session-options.ts';
import type { Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { branchFileSchema } from '@gaia-mesh/core/recording/branch-file.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import type { EngineOptions } from '@gaia-mesh/tools/engines/engine-options.ts';
import { createBranchEngine } from '@gaia-mesh/tools/engines/recorded.ts';

/**
 * Makes agent `id` repeat its tasks up to where the branches in `file` begin.
 *
 * @throws MeshError `config`
 */
export function createBranching(
  file: string,
  id: string,
  live: Engine,
  prompts: EngineOptions['prompts'],
): Pick<AgentOptions, 'engine' | 'rewrite'> {
  const branches = new Branches(parseJsonLine(readFileSync(file, 'utf8'), branchFileSchema, file), id);
  return {
    engine: createBranchEngine(live, branches, prompts),
    rewrite: (emission, cause) => branches.rewrite(emission, cause),
  };
}
