import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { codeFolder, packageFolder, packageVersion, readableByAgents } from '../../config/package-root.ts';
import { promptNamed } from '../../config/prompts.ts';
import { type ErrorCode, MeshError } from '../../core/errors.ts';
import { scorerNamed } from '../../core/evaluation/scorer.ts';
import { issuesOf } from '../../core/packet.ts';
import { type Asked, MeshRun, type RunObserver } from '../../core/run/mesh-run.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { Team } from '../../core/team.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { engineNamed } from '../../tools/engines/registry.ts';
import { readAnyText } from '../../tools/files/read-any.ts';
import { NO_ANSWER } from '../../tools/roles/conclude.ts';
import { TRUTHS_FILE, type Truth } from '../../tools/roles/oversee.ts';
import { agentArguments, agentPermissions, type RunPlaces } from '../bench/agent-arguments.ts';
import { attemptId, type Question } from './question.ts';
import type { AskTeam, TeamReply } from './team-reply.ts';

export interface MeshTeamOptions {
  readonly team: Team;
  /** Folder for the mesh's own results: metrics, archive, workspaces. */
  readonly out: string;
  /** Folder of the tasks' files. */
  readonly files: string;
  /** A file, or the URL of a server. */
  readonly store: string;
  readonly portBase: number | 'auto';
  /** All that will be asked, for the one agent that may know the true answers. */
  readonly questions: readonly Question[];
  readonly repeat: number;
  /** Of one question; without it the team file's. */
  readonly timeoutMs?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly observer: RunObserver;
  readonly signal: AbortSignal;
}

/** A team of agents on a mesh that answers questions; one mesh for all questions of a batch. */
export class MeshTeam {
  readonly ask: AskTeam;
  readonly #run: MeshRun;
  readonly #options: MeshTeamOptions;
  readonly #tasks: Task[] = [];

  private constructor(run: MeshRun, options: MeshTeamOptions) {
    this.#run = run;
    this.#options = options;
    this.ask = (question, { cycle }, signal) => this.#ask(question, cycle, signal);
    writeFileSync(run.folder.resultsFile, '');
  }

  /** @throws MeshError `locked`, `io`, `agent`, `usage`; nothing is left running then */
  static async start(options: MeshTeamOptions): Promise<MeshTeam> {
    const { team, out, observer, signal, portBase } = options;
    const places: RunPlaces = { files: options.files, store: options.store };
    mkdirSync(options.files, { recursive: true });
    const timeoutMs = options.timeoutMs ?? team.limits.task_timeout_s * 1000;
    const withRun = ofRun(team, `${new Date().toISOString()} ${process.pid}`, timeoutMs / 1000);
    const run = await MeshRun.start({
      team: withRun,
      adapter: await adapterNamed(team.adapter),
      scorer: scorerNamed(team.scorer),
      out,
      portBase,
      external: new Set(),
      timeoutMs,
      entry: path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
      readable: readableByAgents(),
      agentArguments: (agent) => agentArguments(withRun, agent, places),
      agentPermissions: (agent) => agentPermissions(agent, places),
      environment: process.env,
      engine: await engineNamed(team.engine, {
        prompts: promptNamed,
        ...(team.model === undefined ? {} : { model: team.model }),
        ...(team.model_host === undefined ? {} : { host: team.model_host }),
        ...(team.engine_options === undefined ? {} : { options: team.engine_options }),
      }),
      version: packageVersion,
      packageFolder,
      command: process.argv.slice(2),
      observer,
      signal,
      workspaceFiles: truthFiles(team, options.questions, options.repeat),
    });
    return new MeshTeam(run, options);
  }

  /** Ends the agents and writes the mesh's own results. */
  async close(): Promise<void> {
    await this.#run.close(this.#tasks, true);
  }

  async #ask(question: Question, cycle: number, signal: AbortSignal): Promise<TeamReply> {
    const { team, maxTokens = team.limits.tokens, timeoutMs } = this.#options;
    const task = await taskOf(team, question, cycle, signal);
    this.#tasks.push(task);
    const asked = await this.#run.ask(task, {
      signal,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
    });
    appendFileSync(this.#run.folder.resultsFile, `${JSON.stringify(asked.result)}\n`);
    return replyOf(asked);
  }
}

/** The overseer keeps its attempts by run, and must know when a question's time is up; so must all who wait for a model. */
function ofRun(team: Team, runId: string, timeS: number): Team {
  const agents = team.agents.map((agent) =>
    agent.tool === 'oversee'
      ? { ...agent, options: { run_id: runId, team: team.name, time_s: timeS, ...agent.options } }
      : agent,
  );
  return { ...team, agents, limits: { ...team.limits, task_timeout_s: timeS } };
}

/** Teams that score themselves get the true answers in one agent's workspace, which no other agent can read. */
function truthFiles(team: Team, questions: readonly Question[], repeat: number) {
  const lines = (cycle: number) =>
    questions
      .filter(({ truths }) => truths.length > 0)
      .map(({ taskId, level, truths }) => {
        const truth: Truth = {
          task_id: attemptId(taskId, cycle),
          question_id: taskId,
          cycle,
          level: level ?? null,
          answers: [...truths],
        };
        return `${JSON.stringify(truth)}\n`;
      });
  return team.agents
    .filter(({ tool }) => tool === 'oversee')
    .map(({ id }) => ({
      agent: id,
      name: TRUTHS_FILE,
      text: Array.from({ length: repeat }, (_, cycle) => lines(cycle + 1).join('')).join(''),
    }));
}

/** The question as a task of the mesh. */
async function taskOf(team: Team, question: Question, cycle: number, signal: AbortSignal): Promise<Task> {
  const { attachment, level } = question;
  const missing =
    attachment?.status === 'missing' ? `\n\n[The attached file ${attachment.name} is missing.]` : '';
  return {
    taskId: attemptId(question.taskId, cycle),
    question: question.question + missing,
    document: question.document ?? (await attachmentText(team, question, signal)),
    truths: question.truths,
    ...(attachment === undefined ? {} : { fileName: attachment.name }),
    ...(level === undefined ? {} : { level }),
  };
}

/** For teams without file tools, and for those that know documents only. */
async function attachmentText(team: Team, { attachment }: Question, signal: AbortSignal): Promise<string> {
  const wantsText = team.document === 'attachment' || team.entry === undefined;
  if (!wantsText || attachment?.status !== 'placed') return '';
  try {
    return await readAnyText(attachment.file, signal);
  } catch (error) {
    // A picture, or a file that is broken: the team has to do without, as a person would who cannot open it.
    if (error instanceof MeshError && error.code === 'tool') return '';
    throw error;
  }
}

/** What a final packet says; the pipeline's has the answer alone. */
const finalSchema = z.looseObject({
  answer: z.union([z.string(), z.number(), z.boolean()]).transform(String).optional(),
  raw_answer: z.string().optional(),
  reasoning_trace: z.string().default(''),
  tool_calls: z
    .array(z.object({ tool: z.string(), count: z.int().nonnegative(), failed: z.int().nonnegative() }))
    .default([]),
  failed_role: z.string().optional(),
  code: z.string().optional(),
});

const CODES: readonly ErrorCode[] = ['engine', 'agent', 'store', 'tool', 'limit', 'config', 'packet', 'io'];

/** A reply of the mesh as the batch knows it. */
function replyOf({ result, outcome: { answer, final, ...outcome }, usage }: Asked): TeamReply {
  const parsed = finalSchema.safeParse(final ?? {});
  const said = parsed.success ? parsed.data : finalSchema.parse({});
  const isEmpty = answer === null || answer.trim() === '';
  const gaveUp = isEmpty || said.failed_role !== undefined || answer === NO_ANSWER;
  const status = outcome.status === 'answered' && gaveUp ? 'failed' : outcome.status;
  const empty = parsed.success
    ? 'the team gave an empty answer'
    : `its final packet: ${issuesOf(parsed.error)}`;
  const reason = outcome.reason ?? (isEmpty ? empty : answer);
  const code =
    CODES.find((known) => known === said.code) ?? (/ is gone\b/.test(reason) ? 'agent' : undefined);
  // By the agents' own notes, not the final packet: that one knows of no reply whose packet did not come in time, or never.
  const { model_calls = 0, prompt_tokens = 0, completion_tokens = 0, cost_usd = 0 } = result;
  return {
    status,
    answer,
    rawAnswer: said.raw_answer ?? answer,
    reasoningTrace: said.reasoning_trace,
    ...(status === 'answered' ? {} : { reason }),
    ...(status === 'answered' || code === undefined ? {} : { code }),
    ...(said.failed_role === undefined ? {} : { failedRole: said.failed_role }),
    usage,
    toolCalls: said.tool_calls,
    tokens: Math.max(result.token_sum, prompt_tokens + completion_tokens),
    costUsd: cost_usd,
    packets: result.pkt_cnt,
    bytes: result.bytes_rx + result.bytes_tx,
    seconds: result.elapsed_ms / 1000,
    modelCalls: model_calls,
  };
}
