import { MeshError } from '../../../../core/contracts/errors.ts';
import { linuxText } from '../../../../core/system/platform.ts';
import { cpuUsOf } from '../../../../core/system/process/machine-state.ts';

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
  const us = cpuUsOf([pid]);
  const stat = linuxText(`/proc/${pid}/stat`);
  if (us === undefined || stat === undefined) {
    throw new MeshError(
      'config',
      `process ${pid}, which the binding started: its CPU time is counted on Linux alone, and while it runs`,
    );
  }
  // The name of a process is in brackets and may hold anything; the 14th and 15th fields are the 12th and 13th behind it.
  const fields = stat.replace(/^.*\) /s, '').split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  const share = user + system === 0 ? 0 : system / (user + system);
  return { user: us * (1 - share), system: us * share };
}
