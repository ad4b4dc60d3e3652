import type { Command } from 'commander';
import { messageOf } from '../../core/contracts/errors.ts';
import { userPath } from '../../core/system/user-paths.ts';
import { adapterIn, envelopeWriterIn, fileIn } from '../../evaluation/teams/user-files.ts';
import { stylesFor } from '../../evaluation/terminal/style.ts';
import { contractChecks } from '../../protocols/contract/suite.ts';
import { adapterNamed } from '../../protocols/registry.ts';

interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  /** What it did wrong. */
  readonly reason?: string;
}

export function conformance(command: Command): void {
  command
    .argument('<file>', 'a file that exports a ProtocolAdapter, or the name of an adapter')
    .option('--json', 'print the results as one JSON value')
    .action(run);
}

/** Runs the contract suite on somebody's adapter and says what fails. Exit code 1 if anything does. */
async function run(fileOrName: string, options: { readonly json?: boolean }): Promise<void> {
  const file = fileIn(fileOrName) === undefined ? undefined : userPath(fileOrName);
  const adapter = file === undefined ? await adapterNamed(fileOrName) : adapterIn(file);
  const writer = file === undefined ? undefined : envelopeWriterIn(file);
  const results = contractChecks(adapter, writer).map((check): CheckResult => {
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
    if (file !== undefined && writer === undefined)
      console.log(
        'Not tried: keys that come twice or are missing, other orders and types: export an EnvelopeWriter',
      );
  }
  if (failed.length > 0) process.exitCode = 1;
}
