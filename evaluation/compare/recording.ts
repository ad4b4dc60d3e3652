import path from 'node:path';
import { readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { listCaveats, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { printError } from '../terminal/print.ts';

/** The recording that is compared by default: traffic of several kinds; see its README. */
const defaultRecording = path.join(codeFolder, 'config', 'recordings', 'default.jsonl.gz');

/** Loads the recording whose packets the arms carry, and says what it cannot tell. */
export async function loadRecording(file: string | undefined): Promise<Recording> {
  if (file === undefined) return readRecording(defaultRecording);
  const recorded = await readRecording(resolveUserPath(file));
  for (const caveat of listCaveats(recorded)) printError(caveat);
  return recorded;
}

/** Describes the run whose packets the arms carry. */
export function describeRecording({ header, packets }: Recording) {
  return {
    run_id: header.run_id,
    team: header.team,
    engine: header.engine,
    agents: header.agents.length,
    tasks: packets.filter(({ cause }) => cause === null).length,
  };
}
