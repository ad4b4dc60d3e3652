import path from 'node:path';
import { resolveOutFolder, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import * as z from 'zod';
import type { MeshPlan } from '../batch/teams/mesh-team.ts';
import {
  choice,
  commaList,
  defineTable,
  flag,
  noFlag,
  option,
  output,
  portFrom,
  storeAddress,
  text,
  wholeNumber,
} from '../plan/option-table.ts';
import { concurrency, repliesNeeds, teamNeeds, teamShape } from '../plan/options.ts';
import { checkTeams } from '../plan/run-plan.ts';
import { loadTeams, type PlannedTeam, planTeam } from '../plan/team-options.ts';
import { readTaskFolder } from '../questions/read-questions.ts';
import { resolveTaskFolder } from '../questions/task-source.ts';

const DEFAULT_BYTES = 1024 * 1024;

/** All options of `serve`. */
export const serveTable = defineTable({
  options: z.object({
    team: option('<name|file>', 'choose the team of agents', text.default('pipeline')),
    mcp: option(
      '[how]',
      'serve MCP over HTTP or standard input and output',
      choice(['http', 'stdio']).optional(),
    ),
    a2a: flag('serve A2A over JSON-RPC (default: both)'),
    port: option('<n>', 'listen on this port (0: any)', portFrom(0, 65_535).default(7700)),
    listen: option(
      '<address>',
      'listen on this address (others than this machine need --token)',
      text.default('127.0.0.1'),
    ),
    /** Name of the variable that holds the token; false for no token. */
    token: option(
      '<variable>',
      "read the clients' token from this environment variable",
      z.union([z.literal(false), z.string()]).optional(),
      { no: 'let every program on this machine ask' },
    ),
    document: option('<file>', 'answer about this document when clients send none', text.optional()),
    task: option(
      '<name|folder>',
      "answer about this task's document when clients send none",
      text.optional(),
    ),
    concurrency,
    waiting: option('<n>', 'refuse further tasks when this many wait', wholeNumber.default(16)),
    maxBytes: option(
      '<n>',
      'limit the bytes of a question with its document',
      wholeNumber.default(DEFAULT_BYTES),
    ),
    recording: option('<file>', 'answer from this recording or log, without a team', text.optional()),
    delay: noFlag('answer at once, without the recorded delays'),
    pushTo: option('<hosts>', 'allow webhooks to these hosts beside this machine', commaList.default([])),
    out: option(
      '<dir>',
      'write results to this folder (default: the project root)',
      output.folder.optional(),
    ),
    ...teamShape,
    store: option('<file|url>', 'keep attempts and gap records in this database', storeAddress.optional()),
    json: flag('print addresses and token as JSON'),
    quiet: flag('print only what needs attention'),
  }),
  common: [
    ...(['team', 'mcp', 'a2a', 'port', 'listen', 'token', 'document', 'adapter'] as const),
    ...(['engine', 'model', 'timeout', 'out', 'recording', 'json', 'quiet'] as const),
  ],
  needs: [
    {
      options: [
        ...(['team', 'document', 'task', 'concurrency', 'waiting', 'maxBytes', 'out', 'store'] as const),
        ...(Object.keys(teamShape) as (keyof typeof teamShape)[]),
      ],
      excludes: ['recording'],
      why: 'a recording answers without a team',
    },
    { options: ['delay=false'], needs: ['recording'], why: 'a team answers when it is done' },
    ...teamNeeds,
    ...repliesNeeds,
    { options: ['task'], excludes: ['document'], why: 'choose one of them' },
    {
      options: ['port', 'listen', 'token', 'token=false'],
      excludes: ['mcp=stdio'],
      unless: ['a2a'],
      why: 'the one client on standard input and output needs neither address nor token',
    },
    {
      options: ['pushTo'],
      excludes: ['mcp'],
      unless: ['a2a'],
      why: 'only A2A clients have webhooks (--a2a)',
    },
  ],
});

export type ServeOptions = z.output<typeof serveTable.options>;

interface ServeLimits {
  /** Concurrent tasks; more wait. */
  readonly tasks: number;
  /** Waiting tasks; more are refused. */
  readonly waiting: number;
  /** Maximum bytes of a question and its document. */
  readonly bytes: number;
}

/** The plan of a `serve` with all options resolved and checked. Nothing has been started or written yet. */
export interface ServePlan {
  readonly planned: PlannedTeam;
  readonly mesh: MeshPlan;
  readonly limits: ServeLimits;
  readonly document: string | undefined;
  readonly description: string;
  /** A line for each model about how it will be used. */
  readonly models: readonly string[];
  readonly mcp: 'stdio' | 'http' | undefined;
  readonly a2a: boolean;
}

/**
 * Resolves and checks the options of a `serve`.
 *
 * @throws MeshError `usage` or `config`
 */
export async function servePlan(options: ServeOptions): Promise<ServePlan> {
  const [team] = await loadTeams([options.team], options);
  if (team === undefined) throw new Error('one team is served');
  const out = resolveOutFolder(options.out);
  const planned = await planTeam(team, options, out);
  const models = await checkTeams([planned], options.store, false);
  const { mcp, a2a } = options;
  // Serve every protocol if none is named.
  const isAll = mcp === undefined && !a2a;
  return {
    planned,
    mesh: {
      questions: [],
      repeat: 1,
      isBatch: true,
      resumes: false,
      limits: {},
      external: new Set(),
      portBase: options.portBase,
      paths: { store: options.store ?? path.join(out, 'store', 'attempts.sqlite') },
    },
    limits: { tasks: planned.concurrency, waiting: options.waiting, bytes: options.maxBytes },
    models,
    document: await loadServedDocument(options),
    description: `A team of agents that answers a question${
      options.task === undefined && options.document === undefined ? '' : ' about a document that it has'
    } (${team.description ?? team.name})`,
    mcp: isAll ? 'http' : mcp,
    a2a: isAll || a2a,
  };
}

async function loadServedDocument({ task, document }: ServeOptions): Promise<string | undefined> {
  if (task !== undefined) return readTaskFolder(resolveTaskFolder(task)).document;
  if (document === undefined) return undefined;
  const { readUserDocument } = await import('../questions/user-document.ts');
  return (await readUserDocument(resolveUserPath(document))).text;
}
