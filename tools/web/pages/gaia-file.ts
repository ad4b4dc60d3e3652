import { stat } from 'node:fs/promises';
import path from 'node:path';
import { DOWNLOADS } from '@gaia-mesh/core/agent/task-files.ts';
import { MeshError, readSystemCode } from '@gaia-mesh/core/contracts/errors.ts';
import * as z from 'zod';
import type { DataTool, DataToolContext } from '../../data-tool.ts';
import { type ServiceCall, withService } from '../call-service.ts';
import { readServiceKey } from '../services.ts';
import { saveDownload } from './save-download.ts';

const DATASET = 'datasets/gaia-benchmark/GAIA/resolve/main/2023';
const SPLITS = ['validation', 'test'];

/** The form of the dataset's ids. A question from elsewhere may be called `metadata`, which is the name of the true answers there. */
const DATASET_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const FILE_TIMEOUT_MS = 60_000;

const input = z.strictObject({
  task_id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/, 'must be the id of a question'),
  file_name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/, 'must be a bare file name'),
});
type Input = z.infer<typeof input>;

/** The sources of a file; the team file sets their order (`options: { sources: [api] }`). */
const sourcesSchema = z
  .array(z.enum(['local', 'dataset', 'api']))
  .min(1)
  .default(['local', 'dataset', 'api']);

/** The file from a source, or the reason why it has none. */
type SaveOutcome = Awaited<ReturnType<typeof saveDownload>> | { readonly miss: string };

/**
 * Gets the attachment of a GAIA question from the task's own folder, the dataset (gated, with the user's token) or the scoring
 * API of the agents' course, in this order until one has it (SV-12, C-35).
 */
export const gaiaFile: DataTool<Input> = {
  name: 'gaia_file',
  description: 'Downloads the file of a GAIA question, and says its name.',
  input,
  async run({ task_id: taskId, file_name: fileName }, context) {
    if (!isOfTask(taskId, context.taskId)) {
      throw new MeshError('tool', `task_id ${taskId} is another question's; this one is ${context.taskId}`);
    }
    const sources = sourcesSchema.safeParse(context.options.sources);
    if (!sources.success)
      throw new MeshError('tool', 'options.sources must be a list of local, dataset, api');
    const misses: string[] = [];
    for (const source of sources.data) {
      const found = await from[source]({ task_id: taskId, file_name: fileName }, context);
      if (!('miss' in found)) {
        const { file, bytes } = found;
        return {
          text: `the file of ${taskId} is ${file} (${bytes} bytes, source: ${source})`,
          data: { file, bytes, source },
        };
      }
      misses.push(`${source}: ${found.miss}`);
    }
    throw new MeshError(
      'tool',
      `not found: the file ${fileName} of ${taskId} (${misses.join('; ')}); go on without it`,
    );
  },
};

const from: Record<
  'local' | 'dataset' | 'api',
  (wanted: Input, context: DataToolContext) => Promise<SaveOutcome>
> = {
  async local({ file_name: fileName }, { files }) {
    if (files === undefined) return { miss: 'the run has no files' };
    for (const file of [fileName, `${DOWNLOADS}/${fileName}`]) {
      const status = await stat(path.join(files, file)).catch((error: unknown) => {
        if (['ENOENT', 'ENOTDIR'].includes(readSystemCode(error) ?? '')) return undefined;
        throw error;
      });
      if (status?.isFile()) return { file, bytes: status.size };
    }
    return { miss: 'it is not in the folder of the task' };
  },

  async dataset({ task_id: taskId, file_name: fileName }, context) {
    if (!DATASET_ID.test(taskId)) return { miss: 'the ids there are UUIDs' };
    // The true answers are stored next to the attachments (`metadata.jsonl`), and the user's token gives access to them.
    if (path.parse(fileName).name !== taskId) return { miss: `its files there are named ${taskId}` };
    const token = readServiceKey('huggingface', context.environment);
    if (token === undefined) return { miss: `HF_TOKEN is not set` };
    const headers = { authorization: `Bearer ${token}` };
    for (const split of SPLITS) {
      const found = await fetchGaiaFile(
        { service: 'huggingface', path: `/${DATASET}/${split}/${fileName}`, headers },
        fileName,
        context,
      );
      if (found !== 'none') return found;
    }
    return { miss: `status 404 in ${SPLITS.join(' and ')}` };
  },

  async api({ task_id: taskId, file_name: fileName }, context) {
    const found = await fetchGaiaFile({ service: 'scoring', path: `/files/${taskId}` }, fileName, context);
    return found === 'none' ? { miss: 'status 404, it has no such file' } : found;
  },
};

/** Returns true if the mesh's task is the question, or a repetition of it: `<id>#<n>`. */
function isOfTask(taskId: string, ofMesh: string): boolean {
  return ofMesh === taskId || ofMesh.startsWith(`${taskId}#`);
}

/** Fetches the file; a failure becomes a miss with its reason, so that the next source is tried. */
async function fetchGaiaFile(
  call: ServiceCall,
  fileName: string,
  context: DataToolContext,
): Promise<SaveOutcome | 'none'> {
  try {
    return await withService(
      { ...call, accepts: [404], timeoutMs: FILE_TIMEOUT_MS },
      context,
      async (response) => {
        if (response.status !== 404) return saveDownload(context, fileName, response.body);
        await response.body?.cancel();
        return 'none';
      },
    );
  } catch (error) {
    if (!(error instanceof MeshError) || context.signal.aborted) throw error;
    return { miss: error.message };
  }
}
