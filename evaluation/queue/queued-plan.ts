import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type Team, teamSchema } from '@gaia-mesh/core/contracts/team.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { resolveOutFolder } from '@gaia-mesh/core/system/user-paths.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import * as z from 'zod';
import { resolveGaiaPaths } from '../plan/batch-places.ts';
import { findSubmitter, type GaiaOptions, type GaiaPlan } from '../plan/gaia-plan.ts';
import type { RunPlan } from '../plan/run-plan.ts';

/** Version of the record of a queued batch. */
const PLAN_VERSION = 2;

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

const fileName = z.string().regex(/^[^/\\]+$/);

/** A file of questions in the database, or the reason why it is not there. */
const fileSchema = z.union([
  z.strictObject({ name: fileName, sha256: sha256Schema, bytes: z.int().nonnegative() }),
  z.strictObject({ name: fileName, missing: z.string() }),
]);

const questionSchema = z.strictObject({
  taskId: z.string().min(1),
  question: z.string(),
  level: z.string().optional(),
  source: z.string().optional(),
  category: z.string(),
  truths: z.array(z.string()),
  fileName: fileName.optional(),
  document: z.string().optional(),
  scorer: z.literal('wtq').exactOptional(),
});

const limitsSchema = z.strictObject({
  questionTokens: z.number().positive().optional(),
  questionCost: z.number().positive().optional(),
  questionTime: z.number().positive().optional(),
});

/** The plan of a batch as all machines read it from the database. Keys of model servers are not in it. */
export const queuedPlanSchema = z.strictObject({
  version: z.literal(PLAN_VERSION),
  gaia_mesh: z.string(),
  teams: z
    .array(
      z.strictObject({
        team: teamSchema,
        model: z.string(),
        prompt_version: z.string(),
        /** Teams that learn are asked one question at a time, in order. */
        in_order: z.boolean(),
      }),
    )
    .min(1),
  questions: z.array(questionSchema).min(1),
  files: z.array(fileSchema),
  repeat: z.int().positive(),
  limits: limitsSchema,
  pairs: z.enum(['baseline', 'all']).optional(),
  /** Settings that must not change when the batch is resumed. */
  setup: z.record(z.string(), z.string()),
});

export type QueuedPlan = z.infer<typeof queuedPlanSchema>;
export type QueuedFile = z.infer<typeof fileSchema>;

/** Builds the record of a plan whose files are in the database already. */
export function buildQueuedPlan(plan: RunPlan, files: QueuedFile[]): QueuedPlan {
  const { questionTokens, questionCost, questionTime } = plan.limits;
  return {
    version: PLAN_VERSION,
    gaia_mesh: packageVersion,
    teams: plan.teams.map(({ team, fingerprint, concurrency }) => ({
      team,
      model: fingerprint.model,
      prompt_version: fingerprint.promptVersion,
      in_order: concurrency === 1,
    })),
    questions: plan.questions.map(({ attachment: _attachment, truths, ...question }) => ({
      ...question,
      truths: [...truths],
    })),
    files,
    repeat: plan.repeat,
    limits: { questionTokens, questionCost, questionTime },
    pairs: plan.pairs,
    setup: plan.fingerprint,
  };
}

/**
 * Lists the commands, files named by path and variables of a worker's own machine that a team would run, read or send. Anyone who
 * can write to the database chooses them.
 */
export function listLocalParts(team: Team): string[] {
  const { agents, engine, adapter } = team;
  const isPath = (text: string) => /[/\\]|\.[cm]?[jt]s\b/.test(text);
  const paths = [adapter, engine, ...agents.flatMap((agent) => [agent.tool, agent.engine ?? ''])].filter(
    isPath,
  );
  const prompts = agents.flatMap(({ prompt }) => prompt ?? []);
  // A foreign server is started by its command, or gets the variables that the team names.
  const foreign = agents.flatMap(({ id, tool, options = {} }) =>
    tool === 'mcp' || tool === 'a2a'
      ? ['command', 'env', 'token'].filter((name) => name in options).map((name) => `${name} of agent ${id}`)
      : [],
  );
  const files = [team, ...agents].flatMap(({ engine_options: options = {} }) =>
    ['weights', 'replies'].flatMap((name) =>
      typeof options[name] === 'string' ? [String(options[name])] : [],
    ),
  );
  return [...new Set([...paths, ...prompts, ...foreign, ...files])];
}

/**
 * Plans the wait for a batch that was queued before, maybe on another machine.
 *
 * @throws MeshError `usage` for options that name questions, since the batch has its own
 */
export async function planQueuedBatch(
  name: string,
  queued: QueuedPlan,
  options: GaiaOptions,
): Promise<GaiaPlan> {
  const { questions, api, submission, username, agentCode } = options;
  const again = questions ?? api;
  if (again !== undefined)
    throw new MeshError('usage', `--resume ${name}: the batch has its questions: leave out ${again}`);
  const out = options.out ?? path.join(resolveOutFolder(), 'runs', name, 'answers.jsonl');
  const paths = resolveGaiaPaths({ ...options, out });
  const teams = queued.teams.map(async ({ team, model, prompt_version: promptVersion }) => ({
    team,
    adapter: await loadAdapter(team.adapter),
    fingerprint: { model, promptVersion },
    concurrency: 1,
    faults: undefined,
    network: null,
    usesCache: false,
    out: path.join(paths.runs, team.name),
  }));
  return {
    teams: await Promise.all(teams),
    questions: queued.questions,
    isBatch: true,
    repeat: queued.repeat,
    resumes: false,
    limits: { ...options, ...queued.limits },
    fingerprint: queued.setup,
    paths,
    pairs: queued.pairs,
    portBase: 'auto',
    external: new Set(),
    warnings: [],
    cacheFile: undefined,
    submitter: findSubmitter({ submission, username, agentCode }),
  };
}
