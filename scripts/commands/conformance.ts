import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { userPath } from '../../config/user-paths.ts';
import type { ProtocolAdapter } from '../../core/adapter.ts';
import { MeshError, messageOf } from '../../core/errors.ts';
import { contractChecks } from '../../protocols/contract.ts';
import { adapterNamed, adapterNames } from '../../protocols/registry.ts';
import { stylesFor } from '../terminal/style.ts';

interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  /** What it did wrong. */
  readonly reason?: string;
}

/** Runs the contract suite on somebody's adapter and says what fails. Exit code 1 if anything does. */
export async function conformance(fileOrName: string, options: { readonly json?: boolean }): Promise<void> {
  const adapter = await adapterOf(fileOrName);
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

/** An adapter of the registry by its name, or the one that a file exports. */
async function adapterOf(fileOrName: string): Promise<ProtocolAdapter> {
  const file = userPath(fileOrName);
  if (!/\.[cm]?[jt]s$/.test(fileOrName)) return adapterNamed(fileOrName);
  if (!existsSync(file)) {
    throw new MeshError(
      'usage',
      `${file}: there is no such file; expected one, or an adapter: ${adapterNames.join(', ')}`,
    );
  }
  let exported: Record<string, unknown>;
  try {
    exported = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new MeshError('config', `${file} cannot be loaded: ${messageOf(error)}`, { cause: error });
  }
  const adapter = Object.values(exported).find(isAdapter);
  if (adapter === undefined) {
    throw new MeshError('config', `${file} exports no adapter: an object with a name and a function open`);
  }
  return adapter;
}

function isAdapter(value: unknown): value is ProtocolAdapter {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'name' in value && typeof value.name === 'string' && 'open' in value && typeof value.open === 'function'
  );
}
