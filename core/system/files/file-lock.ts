import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MeshError, readSystemCode } from '../../contracts/errors.ts';
import { makeFolder } from './make-folder.ts';
import { explainWriteFault } from './whole-file.ts';

/** Maximum tries: another process may take a stale lock first. */
const MAX_TRIES = 3;

/**
 * A file that names the process which holds a resource. The lock of a process that has died, by whatever
 * signal, is free.
 */
export class FileLock {
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
  }

  /**
   * @throws MeshError `locked` with the text of `refusal` while a process holds it; `io` when its folder
   * cannot be written
   */
  static take(file: string, refusal: (holder: number) => string, setting?: string): FileLock {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      try {
        makeFolder(path.dirname(file));
        writeFileSync(file, `${process.pid}\n`, { flag: 'wx' });
        return new FileLock(file);
      } catch (error) {
        if (readSystemCode(error) !== 'EEXIST')
          throw new MeshError('io', `cannot make ${file}: ${explainWriteFault(error)}`, { cause: error });
      }
      const holder = readLockHolder(file);
      if (holder !== undefined && isAlive(holder)) {
        throw new MeshError('locked', refusal(holder), { setting });
      }
      // The holder died without releasing the lock.
      rmSync(file, { force: true });
    }
    throw new MeshError('locked', `cannot lock ${file}`);
  }

  release(): void {
    rmSync(this.#file, { force: true });
  }
}

function readLockHolder(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch (error) {
    if (readSystemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return readSystemCode(error) === 'EPERM';
  }
}
