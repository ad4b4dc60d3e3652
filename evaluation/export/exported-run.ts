import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isArchive, readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { type RecordedExchange, readExchanges } from '@gaia-mesh/core/recording/recorded-exchange.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { type ArchivedRun, readArchivedRun } from '../report/run/archived-run.ts';

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
  const all = await readExchanges(
    file,
    recording.header.agents.map(({ id }) => id),
  );
  const exchanges = [...all].flatMap(([agent, own]) => own.map((exchange) => ({ ...exchange, agent })));
  return { recording, run, exchanges };
}
