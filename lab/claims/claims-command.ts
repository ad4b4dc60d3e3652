import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { fileFaultOf, MeshError } from '../../core/contracts/errors.ts';
import { readRecording } from '../../core/recording/read-archive.ts';
import { userPath } from '../../core/system/user-paths.ts';
import { defaultRecording } from '../../evaluation/compare/scenario.ts';
import { parseStacks } from '../../evaluation/compare/stacks/figures/stacks-file.ts';
import type { MeasuredPart } from '../../evaluation/terminal/docs-page.ts';
import { markdownTable } from '../../evaluation/terminal/markdown-table.ts';
import { table } from '../../evaluation/terminal/table.ts';
import { severalOf } from '../../scripts/command-line/option-values.ts';
import { type PublishOptions, publisher } from '../measure/publish.ts';
import { readClaims } from './claim.ts';
import { type Decided, decide, VERDICTS } from './decide.ts';

interface ClaimsOptions extends PublishOptions {
  readonly stacks?: readonly string[];
}

export function claimsCommand(command: Command): void {
  command
    .option(
      '--stacks <file>',
      'stacks.json of compare --stacks, for claims about time (more than once for several)',
      severalOf,
    )
    .option('--json', 'print the verdicts as one JSON value')
    .option('--write', 'write them to docs/claims.md')
    .action(run);
}

async function run({ stacks = [], ...options }: ClaimsOptions): Promise<void> {
  const publish = publisher('docs/claims.md', options);
  const recording = await readRecording(defaultRecording);
  const files = stacks.map((file) => parseStacks(textOf(userPath(file)), file));
  const decided: Decided[] = [];
  for (const claim of readClaims()) decided.push(await decide(claim, { recording, stacks: files }));
  const rows = decided.map(({ claim, verdict, figures }) => [claim.id, verdict, figures[0] ?? '']);
  await publish({ report: { claims: decided }, text: table(rows), part: claimsPart(decided) });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new MeshError('config', `${file}: ${fileFaultOf(error)}`, { cause: error });
  }
}

/** The measured part of `docs/claims.md`. */
export function claimsPart(decided: readonly Decided[]): MeasuredPart {
  const counts = VERDICTS.map(
    (name) => `${decided.filter(({ verdict }) => verdict === name).length} ${name}`,
  );
  return {
    facts: `${decided.length} claims: ${counts.join(', ')}`,
    limits: [
      'A claim that is reproduced here holds for this data and these libraries, and one that is not may hold for others: the condition stands with each.',
      'Confounded says that the comparison behind the claim changed more than what it is about. It does not say that the claim is wrong.',
      'Bytes and tokens are exact and the same on every machine. Times are those of one machine over loopback.',
    ],
    body: [
      markdownTable([
        ['claim', 'verdict'],
        ...decided.map(({ claim, verdict }) => [`[${claim.id}](#${claim.id})`, verdict]),
      ]),
      ...decided.map(claimText),
    ].join('\n\n'),
  };
}

export function claimText({ claim, verdict, figures }: Decided): string {
  const { id, source, says, condition, differs, confounded = [] } = claim;
  return [
    `### ${id}`,
    `> ${says}\n>\n> [${source.title}](${source.url}); ${condition}`,
    `**${verdict[0]?.toUpperCase()}${verdict.slice(1)}.**`,
    [
      ...figures.map((figure) => `- ${figure}`),
      ...confounded.map((what) => `- its comparison also changes: ${what}`),
      ...(differs === undefined ? [] : [`- not as in the claim: ${differs}`]),
    ].join('\n'),
  ].join('\n\n');
}
