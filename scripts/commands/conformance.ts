import { messageOf } from '../../core/errors.ts';
import { contractChecks } from '../../protocols/contract.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { loadAdapterFile } from '../own-adapter.ts';
import { stylesFor } from '../terminal/style.ts';

interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  /** What it did wrong. */
  readonly reason?: string;
}

/** Runs the contract suite on somebody's adapter and says what fails. Exit code 1 if anything does. */
export async function conformance(fileOrName: string, options: { readonly json?: boolean }): Promise<void> {
  const isFile = /\.[cm]?[jt]s$/.test(fileOrName);
  const adapter = await (isFile ? loadAdapterFile(fileOrName) : adapterNamed(fileOrName));
  const results = contractChecks(adapter).map((check): CheckResult => {
    try {
      check.run();
      return { name: check.name, passed: true };
    } catch (error) {
      return { name: check.name, passed: false, reason: messageOf(error) };
    }
  });
  const failed = results.filter((result) => !result.passed);
  if (options.json) {
    const report = {
      adapter: adapter.name,
      conforms: failed.length === 0,
      passed: results.length - failed.length,
      failed,
    };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  } else {
    const { green, red } = stylesFor(process.stdout);
    for (const { name, passed, reason } of results) {
      console.log(
        `${passed ? green('✓') : red('✗')} ${name}${reason === undefined ? '' : `\n    ${reason}`}`,
      );
    }
    const verdict = failed.length === 0 ? 'conforms' : `fails ${failed.length} of ${results.length} checks`;
    console.log(`\n${adapter.name} ${verdict}`);
  }
  if (failed.length > 0) process.exitCode = 1;
}
