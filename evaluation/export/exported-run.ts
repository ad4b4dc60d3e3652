import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { EXCHANGES_FILE } from '@gaia-mesh/core/contracts/model-exchange.ts';
import { toFolderName } from '@gaia-mesh/core/contracts/packet.ts';
import { isArchive, readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import {
  parseExchanges,
  type RecordedExchange,
  readExchangeLogs,
} from '@gaia-mesh/core/recording/recorded-exchange.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { type ArchivedRun, readArchivedRun } from '../report/run/archived-run.ts';

/** Maximum bytes of the agents' logs of model exchanges, all together. */
const MAX_EXCHANGES_BYTES = 256 * 1024 * 1024;

/** An exchange with a model, and the agent that had it. */
interface AgentExchange extends RecordedExchange {
  readonly agent: string;
}

/** The data to export: a run's archive, or a bare recording, which has packets alone. */
export interface ExportedRun {
  readonly recording: Recording;
  readonly run: Omit<ArchivedRun, 'recording'> | null;
  readonly exchanges: readonly AgentExchange[];
}

/**
 * Reads a run to export.
 *
 * @throws MeshError `config` if the archive has no recording, or its content is not a run's
 */
export async function readExportedRun(file: string): Promise<ExportedRun> {
  if (!isArchive(file)) return { recording: await readRecording(file), run: null, exchanges: [] };
  const { recording, ...run } = await readArchivedRun(file);
  if (recording === null)
    throw new MeshError('config', `archive ${file}: the run was too long to be recorded; nothing to export`);
  const agents = recording.header.agents.map(({ id }) => id);
  return {
    recording,
    run,
    exchanges: await readExchanges(file, agents),
  };
}

async function readExchanges(archive: string, agents: readonly string[]): Promise<AgentExchange[]> {
  const logs = await readExchangeLogs(archive, MAX_EXCHANGES_BYTES);
  return agents.flatMap((agent) => {
    const log = logs.get(path.posix.join(toFolderName(agent), EXCHANGES_FILE)) ?? '';
    return parseExchanges(log).map((exchange) => ({ ...exchange, agent }));
  });
}
