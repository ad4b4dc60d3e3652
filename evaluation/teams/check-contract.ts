import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { JOB_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { defineJob, runJob } from '@gaia-mesh/core/system/process/jobs.ts';
import { listContractChecks } from '@gaia-mesh/protocols/contract/suite.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { printError } from '../terminal/print.ts';
import { loadUserAdapter } from './user-files.ts';

/** The subject of the contract suite: an adapter that ships with the project, or a file. */
type Subject = { readonly name: string } | { readonly file: string };

interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  /** Reason of a failure. */
  readonly reason?: string;
}

interface Conformance {
  readonly adapter: string;
  readonly hasWriter: boolean;
  readonly results: readonly CheckResult[];
}

/** Maximum checks that are stopped: an adapter that hangs in three of them will hang in most. */
const MAX_STOPPED = 3;
/** Maximum characters of a reason, since an adapter may throw anything. */
const MAX_REASON = 2000;

interface Work {
  readonly subject: Subject;
  /** Number of the first check to run. */
  readonly from: number;
}

interface Head {
  readonly adapter: string;
  readonly hasWriter: boolean;
  readonly names: readonly string[];
}

const contract = defineJob(
  new URL('./check-contract.ts', import.meta.url),
  'contract',
  async () => runChecks,
  // The adapter also runs in the hub, where it has all rights of this process.
  { all: true },
);

/**
 * Runs the contract suite in a process of its own. An adapter that hangs or uses too much memory is stopped, the failed check is named,
 * and the next checks go on.
 *
 * @throws MeshError `usage` or `config` for a subject that is no adapter, or that cannot be loaded in time
 */
export async function checkContract(
  subject: Subject,
  options: {
    readonly onResult?: (result: CheckResult) => void;
    /** Stops at the first failure, for callers that only need a verdict. */
    readonly stopsAtFailure?: boolean;
    readonly checkSeconds?: number;
  } = {},
): Promise<Conformance> {
  const { onResult, stopsAtFailure = false, checkSeconds } = options;
  const ms = checkSeconds === undefined ? JOB_LIMITS.contract.ms : 1000 * checkSeconds;
  const results: CheckResult[] = [];
  let head: Head | undefined;
  let stopped = 0;
  const add = (result: CheckResult) => {
    results.push(result);
    onResult?.(result);
    return stopsAtFailure && !result.passed;
  };
  for (;;) {
    const outcome = await runJob(
      contract,
      { subject, from: results.length },
      { ...JOB_LIMITS.contract, ms },
      {
        signal: new AbortController().signal,
        onEvent(event) {
          if ('passed' in event) return add(event);
          head = event;
          return false;
        },
        // Output of an adapter must not mix with results on standard output.
        onPrint: (text) => printError(text.trimEnd()),
      },
    );
    const reason = 'stopped' in outcome ? outcome.stopped : undefined;
    if (head === undefined) {
      const what = 'file' in subject ? subject.file : subject.name;
      throw new MeshError('config', `${what} was not loaded: ${reason}`);
    }
    const { adapter, hasWriter, names } = head;
    const [name, ...others] = names.slice(results.length);
    const hasFailed = results.at(-1)?.passed === false;
    if (name === undefined || (stopsAtFailure && hasFailed)) return { adapter, hasWriter, results };
    stopped += 1;
    const isEnough = add({ name, passed: false, reason: `stopped: ${reason}` });
    if (isEnough) return { adapter, hasWriter, results };
    if (stopped < MAX_STOPPED) continue;
    for (const other of others)
      add({ name: other, passed: false, reason: `not run, because ${MAX_STOPPED} checks had to be stopped` });
    return { adapter, hasWriter, results };
  }
}

async function runChecks(
  { subject, from }: Work,
  report: (event: Head | CheckResult) => void,
): Promise<void> {
  const { adapter, writer } =
    'file' in subject
      ? loadUserAdapter(subject.file)
      : { adapter: await loadAdapter(subject.name), writer: undefined };
  const checks = listContractChecks(adapter, writer);
  const names = checks.map(({ name }) => name);
  report({ adapter: adapter.name, hasWriter: writer !== undefined, names });
  for (const check of checks.slice(from)) {
    const { name } = check;
    try {
      check.run();
      report({ name, passed: true });
    } catch (error) {
      report({ name, passed: false, reason: toErrorMessage(error).slice(0, MAX_REASON) });
    }
  }
}
