import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { isCheckout, packageFolder } from '../../../config/package-root.ts';
import { MeshError, messageOf } from '../../../core/errors.ts';

const run = promisify(execFile);

/** A script of this folder, which the running Node can run. */
export function scriptOf(name: string): string {
  return path.join(import.meta.dirname, name);
}

/**
 * Compiles a C source of this folder, once for each version of it, into the package's cache.
 *
 * @returns the program
 * @throws MeshError `config` where there is no C compiler, or it fails; `usage` outside of a checkout
 */
export async function compiled(name: 'load' | 'relay' | 'wake'): Promise<string> {
  if (!isCheckout) {
    throw new MeshError(
      'usage',
      'perf --relay: its C sources are part of a checkout; this is an installed package',
    );
  }
  const source = scriptOf(`${name}.c`);
  const stamp = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16);
  const folder = path.join(packageFolder, 'node_modules', '.cache', 'gaia-mesh', 'perf');
  const program = path.join(folder, `${name}-${os.arch()}-${stamp}`);
  if (existsSync(program)) return program;
  if (os.platform() !== 'linux') {
    throw new MeshError(
      'config',
      `perf --relay: the load generator needs epoll, so Linux; this is ${os.platform()}`,
    );
  }
  mkdirSync(folder, { recursive: true });
  const half = `${program}.${process.pid}`;
  for (const compiler of ['cc', 'gcc', 'clang']) {
    try {
      await run(compiler, ['-O2', '-o', half, source]);
      renameSync(half, program);
      return program;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') continue;
      throw new MeshError('config', `${compiler} cannot compile ${source}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
  throw new MeshError(
    'config',
    'perf --relay: no C compiler (cc, gcc or clang) in PATH; the load generator is in C so that it is never the bottleneck. Debian: apt install gcc libc6-dev',
  );
}

/**
 * Makes the bundle of the sources as they are now, as an installation does it: the hub alone starts from it, and takes 30 MB less.
 *
 * @returns why there is none, if so
 */
export async function bundled(): Promise<string | undefined> {
  const { stderr } = await run(process.execPath, [path.join(packageFolder, 'scripts', 'bundle.js')]);
  return stderr.trim() || undefined;
}

/** The first line that `program` says of its version; undefined where it is not installed. */
export async function versionOf(program: string, option: string): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await run(program, [option]);
    return (stdout || stderr).trim().split('\n')[0];
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    // Mosquitto has no option for it alone: it says it, and that the option is unknown.
    const said =
      error instanceof Error && 'stdout' in error ? String(error.stdout).trim().split('\n')[0] : '';
    return said || program;
  }
}

/** The version of a package; undefined where it is not installed. */
export function packageVersionOf(name: string): string | undefined {
  const { resolve } = createRequire(import.meta.url);
  try {
    const text = readFileSync(resolve(`${name}/package.json`), 'utf8');
    return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
