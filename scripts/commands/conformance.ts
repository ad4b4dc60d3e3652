import { JOB_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { argument, defineTable, flag, option, seconds } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { checkContract } from '@gaia-mesh/evaluation/teams/check-contract.ts';
import { parseFileName } from '@gaia-mesh/evaluation/teams/user-files.ts';
import { createStyles, print, printJson } from '@gaia-mesh/evaluation/terminal/print.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { EXIT } from '../command-line/exit-code.ts';
import { defineOptions } from '../command-line/options.ts';

const conformanceTable = defineTable({
  options: z.object({
    file: argument('<file>', 'check this file, or the adapter of this name', z.string()),
    timeout: option(
      '<seconds>',
      'stop each check after this time',
      seconds.default(JOB_LIMITS.contract.ms / 1000),
    ),
    json: flag('print results as JSON'),
  }),
});

export function defineConformance(command: Command): void {
  defineOptions(command, conformanceTable, run);
}

/** Runs the contract suite on an adapter and reports failures. Exit code 1 if anything fails. */
async function run(options: z.output<typeof conformanceTable.options>): Promise<void> {
  const { file: fileOrName } = options;
  const isFile = parseFileName(fileOrName) !== undefined;
  const { green, red } = createStyles(process.stdout);
  const { adapter, hasWriter, results } = await checkContract(
    isFile ? { file: resolveUserPath(fileOrName) } : { name: fileOrName },
    {
      checkSeconds: options.timeout,
      onResult({ name, passed, reason }) {
        if (options.json) return;
        const mark = passed ? green('✓') : red('✗');
        print(`${mark} ${name}`);
        for (const line of reason?.split('\n') ?? []) print(`    ${line}`);
      },
    },
  );
  const failed = results.filter((result) => !result.passed);
  if (options.json) {
    const report = {
      adapter,
      conforms: failed.length === 0,
      passed: results.length - failed.length,
      failed,
    };
    printJson(report);
  } else {
    const verdict = failed.length === 0 ? 'conforms' : `fails ${failed.length} of ${results.length} checks`;
    print();
    print(`${adapter} ${verdict}`);
    if (isFile && !hasWriter)
      print('Not tried: duplicate and missing keys, other orders and types: export an EnvelopeWriter');
  }
  if (failed.length > 0) process.exitCode = EXIT.failed;
}
