import { readdirSync, readFileSync } from 'node:fs';
import { MeshError } from '../../../../core/contracts/errors.ts';

interface CpuUs {
  readonly user: number;
  readonly system: number;
}

/** CPU time so far of processes that a binding has started, such as a broker: of all their threads, microseconds. */
export function cpuOfProcesses(pids: readonly number[]): CpuUs {
  const all = pids.map(cpuOf);
  return {
    user: all.reduce((sum, { user }) => sum + user, 0),
    system: all.reduce((sum, { system }) => sum + system, 0),
  };
}

/**
 * The scheduler counts nanoseconds but does not say what they were for; that is only known in hundredths of a second, whose proportion
 * they are divided by.
 */
function cpuOf(pid: number): CpuUs {
  try {
    const us = readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
      const [ns = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
      return sum + Number(ns) / 1000;
    }, 0);
    // The name of a process is in brackets and may hold anything; the 14th and 15th fields are the 12th and 13th behind it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const [user, system] = [Number(fields[11]), Number(fields[12])];
    const share = user + system === 0 ? 0 : system / (user + system);
    return { user: us * (1 - share), system: us * share };
  } catch (error) {
    throw new MeshError(
      'config',
      `process ${pid}, which the binding started: its CPU time is read from /proc, which only Linux has, while it runs`,
      { cause: error },
    );
  }
}
