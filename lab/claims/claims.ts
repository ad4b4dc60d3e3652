import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { defineTable, flag } from '@gaia-mesh/evaluation/plan/option-table.ts';
import type { MeasuredPart } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { escapeMarkdown, formatMarkdownTable } from '@gaia-mesh/evaluation/terminal/markdown-table.ts';
import type { Command } from 'commander';
import { parse } from 'yaml';
import * as z from 'zod';
import { trackChild, useRunFolder } from '../measure/bench-runs.ts';
import { createPublisher } from '../measure/publish.ts';

const claimsSchema = z.array(
  z.strictObject({
    id: z.string().regex(/^[a-z0-9-]+$/),
    source: z.strictObject({ title: z.string(), url: z.url() }),
    says: z.string(),
    condition: z.string(),
    compare: z.string(),
    refuted_if: z.string(),
    differs: z.string().optional(),
    is_neighbour: z.literal(true).optional(),
  }),
);
type Claim = z.infer<typeof claimsSchema>[number];

const VERDICTS = ['reproduced', 'not reproduced', 'cannot tell', 'not measured'] as const;

interface Decided {
  readonly claim: Claim;
  readonly verdict: (typeof VERDICTS)[number];
  readonly found: string;
}

const claimsTable = defineTable({
  options: z.object({
    times: flag('measure times, too, which takes minutes and an idle machine'),
    json: flag('print the verdicts as one JSON value'),
    write: flag('write docs/claims.md'),
  }),
});

export function claims(command: Command): void {
  defineOptions(command, claimsTable, run);
}

async function run({ times, ...options }: z.output<typeof claimsTable.options>): Promise<void> {
  const publish = createPublisher('docs/claims.md', options);
  const file = path.join(import.meta.dirname, 'claims.yaml');
  const all = claimsSchema.parse(parse(readFileSync(file, 'utf8')));
  const decided: Decided[] = [];
  for (const [compare, own] of Map.groupBy(all, (claim) => claim.compare)) {
    if (times || !own.some(isAboutTime)) decided.push(...(await decide(compare, own)));
    else decided.push(...own.map(leaveOut));
  }
  await publish({
    report: { decided },
    text: formatClaims(decided),
    part: buildClaimsPart(decided),
  });
}

const isAboutTime = ({ refuted_if }: Claim): boolean => refuted_if.includes('.time ');

function leaveOut(claim: Claim): Decided {
  return {
    claim,
    verdict: 'not measured',
    found: '`npm run claims -- --times` measures it',
  };
}

/** Decides the claims about one comparison. */
function decide(compare: string, own: readonly Claim[]): Promise<Decided[]> {
  return useRunFolder(async (folder) => {
    const summary = path.join(folder, 'summary.md');
    const args = [
      '--out',
      folder,
      '--summary',
      summary,
      ...own.flatMap(({ refuted_if }) => ['--fail-if', refuted_if]),
    ];
    const npm = ['run', '-s', 'compare', '--', ...compare.split(' '), ...args];
    await once(
      trackChild(spawn('npm', npm, { cwd: codeFolder, stdio: ['ignore', 'ignore', 'inherit'] })),
      'close',
    );
    // Exit code 1 means a condition that holds or a comparison that failed; only the latter has no summary.
    if (!existsSync(summary)) throw new MeshError('io', `compare ${compare}: it ended without a summary`);
    const rows = readFileSync(summary, 'utf8').split('\n');
    return own.map((claim) => {
      const { isRefuted, found } = readCondition(claim, rows);
      if (isRefuted === false) return { claim, verdict: 'reproduced', found };
      const isOpen = isRefuted === undefined || claim.is_neighbour === true;
      return { claim, verdict: isOpen ? 'cannot tell' : 'not reproduced', found };
    });
  });
}

interface Found {
  /** Undefined when the measurement cannot tell. */
  readonly isRefuted: boolean | undefined;
  readonly found: string;
}

/** Reads the outcome of a condition from the summary of its comparison. */
function readCondition({ refuted_if }: Claim, rows: readonly string[]): Found {
  const row = rows.find((line) => line.startsWith(`| ${escapeMarkdown(refuted_if)} |`));
  if (row === undefined) throw new MeshError('io', `the summary has no condition ${refuted_if}`);
  const [, outcome = '', found = ''] = row.slice(0, -' |'.length).split(' | ');
  if (outcome.endsWith('cannot tell')) return { isRefuted: undefined, found: `\`${refuted_if}\`: ${found}` };
  const isRefuted = outcome.endsWith('failed');
  return { isRefuted, found: `\`${refuted_if}\` ${isRefuted ? 'holds' : 'does not hold'}: ${found}` };
}

function buildClaimsPart(decided: readonly Decided[]): MeasuredPart {
  const counts = VERDICTS.map(
    (name) => `${decided.filter(({ verdict }) => verdict === name).length} ${name}`,
  );
  return {
    facts: `${decided.length} claims: ${counts.join(', ')}`,
    limits: [
      'A claim that is reproduced here holds for this data and these libraries, and one that is not may hold for others: the condition stands with each.',
      'Bytes are exact and the same on every machine. Times are those of one machine over loopback.',
    ],
    body: formatClaims(decided),
  };
}

/** A table for each comparison that decides claims. */
function formatClaims(decided: readonly Decided[]): string {
  return [...Map.groupBy(decided, ({ claim }) => claim.compare)]
    .map(([compare, own]) =>
      [
        `By \`npm run compare -- ${compare}\`:`,
        unescapeCode(
          formatMarkdownTable([['published', 'about', 'verdict', 'found here'], ...own.map(formatClaim)]),
        ),
      ].join('\n\n'),
    )
    .join('\n\n');
}

/** Takes back the escapes inside of code, where Markdown would show them as they are: conditions have a `<`. */
function unescapeCode(markdown: string): string {
  return markdown.replaceAll(/`[^`]*`/g, (code) => code.replaceAll('&lt;', '<'));
}

function formatClaim({ claim, verdict, found }: Decided): string[] {
  const { source, says, condition, differs } = claim;
  const difference = differs === undefined ? '' : `. Not as in the claim: ${differs}`;
  return [`${says} [${source.title}](${source.url})`, condition, verdict, `${found}${difference}`];
}
