import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { findCacheFolder } from '@gaia-mesh/core/system/platform.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import * as z from 'zod';
import { type GgufFacts, readGguf } from './gguf.ts';

/** A model on this machine. */
interface FoundModel extends Omit<GgufFacts, 'name'> {
  readonly name: string;
  readonly file: string;
  /** The program whose folder it is in. */
  readonly from: string;
}

/** A folder in which a program keeps models. */
interface Place {
  readonly from: string;
  readonly folder: string;
  readonly list: (folder: string) => { readonly name: string; readonly file: string }[];
}

/** Maximum entries of a folder that are examined: a person has at most some hundred models. */
const MAX_ENTRIES = 20_000;

/** Finds the GGUF files that programs on this machine have downloaded, and those in the user's folder `models`. */
export function findModels(
  environment: NodeJS.ProcessEnv = process.env,
  home: string = os.homedir(),
): { readonly models: FoundModel[]; readonly places: readonly string[] } {
  const { OLLAMA_MODELS, HF_HUB_CACHE, HF_HOME } = environment;
  const cache = path.join(home, '.cache');
  const places: readonly Place[] = [
    { from: 'models/', folder: resolveUserPath('models'), list: listFiles },
    { from: 'Gaia Mesh', folder: path.join(findCacheFolder(environment), 'models'), list: listFiles },
    { from: 'Ollama', folder: OLLAMA_MODELS || path.join(home, '.ollama', 'models'), list: listOllama },
    {
      from: 'Hugging Face',
      folder: HF_HUB_CACHE || path.join(HF_HOME || path.join(cache, 'huggingface'), 'hub'),
      list: listFiles,
    },
    { from: 'LM Studio', folder: path.join(home, '.lmstudio', 'models'), list: listFiles },
    { from: 'LM Studio', folder: path.join(cache, 'lm-studio', 'models'), list: listFiles },
  ];
  const seen = new Set<string>();
  const models = places.flatMap(({ from, folder, list }) =>
    (existsSync(folder) ? list(folder) : []).flatMap(({ name, file }): FoundModel[] => {
      const real = existsSync(file) ? realpathSync(file) : file;
      if (seen.has(real)) return [];
      seen.add(real);
      try {
        return [{ ...readGguf(file), name, file, from }];
      } catch (error) {
        // Half a download, or the file of another kind of model.
        if (error instanceof MeshError) return [];
        throw error;
      }
    }),
  );
  return { models, places: places.map(({ folder }) => folder) };
}

function listEntries(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).slice(0, MAX_ENTRIES);
}

/** Lists the files whose name says that they are models; of a model in several parts the first, which names the others. */
function listFiles(folder: string) {
  return listEntries(folder)
    .filter((entry) => /\.gguf$/i.test(entry) && !/-(?!0*1-of)\d+-of-\d+\.gguf$/i.test(entry))
    .filter((entry) => !/mmproj/i.test(entry))
    .map((entry) => ({ name: path.basename(entry), file: path.join(folder, entry) }));
}

const manifestSchema = z.object({ layers: z.array(z.object({ mediaType: z.string(), digest: z.string() })) });

/** Lists Ollama's models: a manifest names the file, whose own name is its digest. */
function listOllama(folder: string) {
  const manifests = path.join(folder, 'manifests');
  if (!existsSync(manifests)) return [];
  return listEntries(manifests).flatMap((entry) => {
    let text: string;
    try {
      text = readFileSync(path.join(manifests, entry), 'utf8');
    } catch {
      return []; // It is a folder.
    }
    const manifest = manifestSchema.safeParse(tryParseJson(text));
    const digest = manifest.data?.layers.find(({ mediaType }) => mediaType.endsWith('.model'))?.digest;
    if (digest === undefined) return [];
    const name = entry.split(path.sep).slice(-2).join(':');
    return [{ name, file: path.join(folder, 'blobs', digest.replace(':', '-')) }];
  });
}
