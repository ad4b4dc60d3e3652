import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';

const run = promisify(execFile);

const C_SOURCES = {
  load: ['load.c', 'messages.c', 'brokers.c', 'meters.c'],
  relay: ['relay.c'],
} as const;

/** Returns the path of a file in this folder. */
export function resolveScript(...names: readonly string[]): string {
  return path.join(import.meta.dirname, ...names);
}

/**
 * Compiles a program from its C sources, once for each version of them, into the package's cache.
 *
 * @returns the path of the program
 * @throws MeshError `config` if there is no C compiler, or it fails
 */
export async function compileProgram(name: keyof typeof C_SOURCES): Promise<string> {
  const sources = C_SOURCES[name].map((file) => resolveScript('c', file));
  const hash = createHash('sha256').update(readFileSync(resolveScript('c', 'load.h')));
  for (const source of sources) hash.update(readFileSync(source));
  const folder = path.join(codeFolder, 'node_modules', '.cache', 'gaia-mesh', 'lab');
  const program = path.join(folder, `${name}-${os.arch()}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return program;
  if (os.platform() !== 'linux') {
    throw new MeshError(
      'config',
      `perf --relay: its load generator needs epoll, so Linux; this is ${os.platform()}`,
    );
  }
  mkdirSync(folder, { recursive: true });
  const half = `${program}.${process.pid}`;
  for (const compiler of ['cc', 'gcc', 'clang']) {
    try {
      await run(compiler, ['-O2', '-o', half, ...sources]);
      renameSync(half, program);
      return program;
    } catch (error) {
      if (isMissing(error)) continue;
      throw new MeshError('config', `${compiler} cannot compile ${name}: ${toErrorMessage(error)}`, {
        cause: error,
      });
    }
  }
  throw new MeshError(
    'config',
    'perf --relay: no C compiler (cc, gcc or clang) in PATH; the load generator is in C so that it is never the bottleneck. Debian: apt install gcc libc6-dev',
  );
}

/** Returns the first line of the version that `program` prints; undefined if it is not installed. */
export async function readVersion(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, ['--version']);
    return stdout.trim().split('\n')[0];
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
