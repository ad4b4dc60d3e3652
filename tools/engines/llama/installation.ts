import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { findCacheFolder } from '@gaia-mesh/core/system/platform.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import * as z from 'zod';

/** The library that runs models. It is no dependency of the project: with its packages for graphics cards it weighs 732 MB. */
export const LIBRARY = { name: 'node-llama-cpp', version: '3.21.1' } as const;

/** Graphics interfaces for which the library has packages. */
export const GPUS = ['cuda', 'vulkan', 'metal'] as const;

/** Returns the folder in which the library is installed, or would be. */
export function findLibraryFolder(): string {
  return path.join(findCacheFolder(), LIBRARY.name);
}

interface Installation {
  readonly folder: string;
  readonly version: string;
  readonly gpu: string | false;
}

/**
 * Returns the installed library.
 *
 * @throws MeshError `config` if it is not installed
 */
export function findInstallation(): Installation {
  const folder = findLibraryFolder();
  const file = path.join(folder, 'node_modules', LIBRARY.name, 'package.json');
  if (!existsSync(file))
    throw new MeshError(
      'config',
      `--engine llama needs ${LIBRARY.name}, which is not in ${folder}: install it with ${formatCommandLine('model', ['install'])}`,
    );
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8')));
  const binaries = readdirSync(path.join(folder, 'node_modules', '@node-llama-cpp'));
  const gpu = GPUS.find((name) => binaries.some((binary) => binary.endsWith(`-${name}`)));
  return { folder, version, gpu: gpu ?? false };
}
