import { mkdirSync } from 'node:fs';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Task } from '@gaia-mesh/core/contracts/task.ts';
import type { Team } from '@gaia-mesh/core/contracts/team.ts';
import { TRACE_FILE } from '@gaia-mesh/core/contracts/tool.ts';
import type { AgentGroupOptions } from '@gaia-mesh/core/run/agents/agent-group.ts';
import { MeshRun } from '@gaia-mesh/core/run/mesh-run.ts';
import { AgentLines } from '@gaia-mesh/core/run/metrics/agent-lines.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type { RunFolder } from '@gaia-mesh/core/run/run-folder.ts';
import type { RunObserver } from '@gaia-mesh/core/run/run-options.ts';
import { loadEngine } from '@gaia-mesh/tools/engines/registry.ts';
import { readAnyText } from '@gaia-mesh/tools/files/read-confined.ts';
import { describeContent } from '@gaia-mesh/tools/files/reading/readers.ts';
import { isUnseen } from '@gaia-mesh/tools/foreign/foreign.ts';
import { loadPrompt } from '@gaia-mesh/tools/prompts.ts';
import { TRUTHS_FILE, type Truth } from '@gaia-mesh/tools/roles/overseer/truths.ts';
import { type TraceEntry, traceEntrySchema } from '@gaia-mesh/tools/roles/trace.ts';
import * as z from 'zod';
import type { Attempt } from '../../attempts/attempt.ts';
import { buildAttempt, toUnsentEnd } from '../../attempts/build-attempt.ts';
import type { RunPlan } from '../../plan/run-plan.ts';
import type { PlannedTeam } from '../../plan/team-options.ts';
import { type Question, toAttemptId } from '../../questions/question.ts';
import { createTaskScorer } from '../../scorers/scorer.ts';
import { buildAgentLaunch } from '../../teams/agent-launch.ts';
import { PORT_HINT } from '../../teams/port-hint.ts';
import type { Batch } from '../batch.ts';
import { createRedactor } from '../redact.ts';

/** Characters of a text's beginning in an outline. It is sent again with each turn of a conversation. */
const MAX_BEGINNING_CHARACTERS = 240;
/** Headings named in an outline; a document may have hundreds. */
const MAX_PARTS = 12;
const MAX_PART_CHARACTERS = 120;

interface OutlinedFile {
  readonly name: string;
  readonly bytes: number;
  /** Empty for pictures, recordings and files that could not be read. */
  readonly text: string;
  /** The recipient of the outline gets the text as well, so that the outline need not quote it. */
  readonly hasText: boolean;
}

/** Describes a file for an agent that decides what to do with it before it is read: kind, size, parts and beginning. */
export function outlineFile({ name, bytes, text, hasText }: OutlinedFile): string {
  const content = describeContent(name);
  const kind = content === 'unknown' ? 'a file of a kind that no tool is known for' : content;
  const facts = [`${kind}, ${bytes} bytes`];
  const pages = text.match(/^--- page \d+ ---$/gm)?.length ?? 0;
  if (pages > 0) facts.push(`${pages} ${pages === 1 ? 'page' : 'pages'}`);
  const parts = (text.match(/^#{1,2} .+$/gm) ?? []).map((line) => line.replace(/^#+ /, ''));
  const named = parts.slice(0, MAX_PARTS).map((part) => part.slice(0, MAX_PART_CHARACTERS));
  if (parts.length > MAX_PARTS) named.push(`and ${parts.length - MAX_PARTS} more`);
  if (parts.length > 0) facts.push(`parts: ${named.join('; ')}`);
  const beginning = text.slice(0, MAX_BEGINNING_CHARACTERS).toWellFormed().trim();
  if (hasText || beginning === '') return facts.join(', ');
  const isWhole = text.length <= MAX_BEGINNING_CHARACTERS;
  return `${facts.join(', ')}; ${isWhole ? 'it says' : 'it begins'}:\n${beginning}${isWhole ? '' : ' …'}\n`;
}

/** The parts of a run's plan that its meshes need. */
export interface MeshPlan
  extends Pick<RunPlan, 'questions' | 'repeat' | 'isBatch' | 'resumes' | 'limits' | 'external' | 'portBase'> {
  readonly paths: Partial<Pick<RunPlan['paths'], 'files' | 'store' | 'branches'>>;
}

/** The listeners of a mesh while it runs. */
export interface MeshContext {
  /** Receives what happens on the mesh. */
  readonly observer: RunObserver;
  readonly howToStart?: AgentGroupOptions['howToStart'];
  readonly signal: AbortSignal;
}

const lineSchema = traceEntrySchema.extend({ task_id: z.string(), time: z.number() });
type Line = z.infer<typeof lineSchema>;

/** Maximum entries kept for open tasks; a loop of 50 turns stays far below it. */
const MAX_OPEN_ENTRIES = 20_000;

/**
 * The steps of each task, read from the workspaces of its agents, where roles note them as they happen. An answer brings its own
 * steps; for a task that failed or timed out these notes are the only record.
 */
class RunTraces {
  readonly #lines: AgentLines<Line>;
  readonly #open = new Map<string, Line[]>();
  #openEntries = 0;

  constructor(workspaces: string, ids: readonly string[]) {
    this.#lines = new AgentLines(workspaces, ids, TRACE_FILE, lineSchema);
  }

  /** Returns the steps of a task in the order of time and forgets them. Call it once, when the task has ended. */
  ended(taskId: string): TraceEntry[] {
    for (const { value } of this.#lines.next()) this.#add(value);
    const lines = this.#open.get(taskId) ?? [];
    this.#open.delete(taskId);
    this.#openEntries -= lines.length;
    return lines.sort((a, b) => a.time - b.time).map(({ task_id: _task, time: _time, ...entry }) => entry);
  }

  #add(line: Line): void {
    if (this.#openEntries >= MAX_OPEN_ENTRIES) return;
    this.#openEntries += 1;
    this.#open.set(line.task_id, [...(this.#open.get(line.task_id) ?? []), line]);
  }
}

/** A team of agents on a mesh that answers questions. All questions of a batch share one mesh. */
export class MeshTeam {
  readonly #run: MeshRun;
  readonly #traces: RunTraces;
  readonly #hasModel: boolean;
  readonly #redact = createRedactor(process.env);
  readonly #team: Team;
  readonly #plan: MeshPlan;

  /** @param hasModel true if any of the agents may ask a model */
  private constructor(run: MeshRun, team: Team, plan: MeshPlan, hasModel: boolean) {
    this.#hasModel = hasModel;
    this.#run = run;
    this.#team = team;
    this.#plan = plan;
    this.#traces = new RunTraces(
      run.folder.workspaces,
      team.agents.map(({ id }) => id),
    );
  }

  /**
   * Starts the agents of a team. Nothing is left running if it throws.
   *
   * @throws MeshError `locked`, `io`, `agent`, `usage`
   */
  static async start(planned: PlannedTeam, plan: MeshPlan, context: MeshContext): Promise<MeshTeam> {
    const { team, adapter, out, faults, network } = planned;
    const { paths, questions, repeat, portBase, external, resumes } = plan;
    if (paths.files !== undefined) mkdirSync(paths.files, { recursive: true });
    const timeoutS = plan.limits.questionTime ?? team.limits.task_timeout_s;
    const withRun = adaptTeam(team, `${new Date().toISOString()} ${process.pid}`, timeoutS);
    const { engine: name, model, model_host: host, engine_options: options } = team;
    const engine = await loadEngine(name, { prompts: loadPrompt, model, host, options });
    const run = await MeshRun.start({
      ...context,
      team: withRun,
      adapter,
      score: createTaskScorer(team.scorer),
      out,
      resumes,
      portBase,
      external,
      faults,
      network,
      timeoutMs: timeoutS * 1000,
      launchOf: (agent) => buildAgentLaunch(withRun, agent, paths, faults),
      environment: process.env,
      portHint: PORT_HINT,
      unseen: findUnseenAgents(team),
      engine,
      command: process.argv.slice(2).map(createRedactor(process.env)),
      questions: questions.length === 0 ? undefined : questions.length * repeat,
      workspaceFiles: buildTruthFiles(team, questions, repeat),
    });
    const hasOther = team.agents.some((agent) => agent.engine !== undefined && agent.engine !== engine.name);
    return new MeshTeam(run, team, plan, engine.tokenSource === 'model' || hasOther);
  }

  /** Stops the agents and writes the mesh's own results. */
  close(): Promise<RunMetrics> {
    return this.#run.close(this.#plan.isBatch);
  }

  /** The fault for which the mesh's results are not whole, once it is closed. */
  get unsaved(): MeshError | undefined {
    return this.#run.unsaved;
  }

  /** Counts a question that the cache answered among the tasks of the run. */
  answered(attempt: Attempt): void {
    this.#run.answered(toUnsentEnd(attempt));
  }

  get folder(): RunFolder {
    return this.#run.folder;
  }

  /** Asks the team one question. */
  readonly ask: Batch['askTeam'] = async (question, cycle, signal) => {
    const team = this.#team;
    const { questionTime: seconds, questionTokens = team.limits.tokens } = this.#plan.limits;
    const task = await createTask(team, question, cycle, { hasModel: this.#hasModel, signal });
    const timeoutMs = seconds === undefined ? undefined : seconds * 1000;
    const end = await this.#run.ask(task, { signal, timeoutMs, taskTokens: questionTokens });
    const steps = this.#traces.ended(task.taskId);
    return buildAttempt(end, { question, team: team.name, cycle, steps, redact: this.#redact });
  };
}

/** Returns the agents whose tokens cannot be counted, because a foreign server or agent does their work. */
function findUnseenAgents({ agents }: Team): ReadonlySet<string> {
  return new Set(agents.filter(({ tool, options }) => isUnseen(tool, options)).map(({ id }) => id));
}

/**
 * Adds the run's facts to the team: the overseer keeps its attempts by run, and both the entry agent and every agent that waits
 * for a model must know when a question's time is up.
 */
function adaptTeam(team: Team, runId: string, timeS: number): Team {
  const agents = team.agents.map((agent) => {
    if (agent.id !== team.entry) return agent;
    const ofStore = agent.tool === 'oversee' ? { run_id: runId, team: team.name } : {};
    return { ...agent, options: { ...ofStore, time_s: timeS, ...agent.options } };
  });
  return { ...team, agents, limits: { ...team.limits, task_timeout_s: timeS } };
}

/**
 * Builds the files with the true answers for teams that score themselves. They go into one agent's workspace, which no other
 * agent can read.
 */
function buildTruthFiles(team: Team, questions: readonly Question[], repeat: number) {
  const lines = (cycle: number) =>
    questions
      .filter(({ truths }) => truths.length > 0)
      .map(({ taskId, level, truths }) => {
        const truth: Truth = {
          task_id: toAttemptId(taskId, cycle),
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

/** Turns a question into a task of the mesh. */
async function createTask(
  team: Team,
  question: Question,
  cycle: number,
  { hasModel, signal }: { readonly hasModel: boolean; readonly signal: AbortSignal },
): Promise<Task> {
  const { attachment, level, source } = question;
  // Teams without file tools, and teams that know only documents, get the text itself.
  const hasText = team.document === 'attachment' || team.entry === undefined;
  // Models decide by the outline what to do with a file; the embedded engine goes by the name.
  const hasOutline = hasModel && team.entry !== undefined && attachment?.status === 'placed';
  const text = hasText || hasOutline ? await readAttachmentText(question, signal) : '';
  const missing =
    attachment?.status === 'missing' ? `\n\n[The attached file ${attachment.name} is missing.]` : '';
  return {
    taskId: toAttemptId(question.taskId, cycle),
    question: question.question + missing,
    document: question.document ?? (hasText ? text : ''),
    truths: question.truths,
    fileName: attachment?.name,
    fileOutline: hasOutline ? outlineFile({ ...attachment, text, hasText }) : undefined,
    level,
    source,
  };
}

async function readAttachmentText({ attachment }: Question, signal: AbortSignal): Promise<string> {
  if (attachment?.status !== 'placed') return '';
  try {
    return await readAnyText(attachment.file, signal);
  } catch (error) {
    // The file is a picture or is broken: the team works without its text.
    if (error instanceof MeshError && error.code === 'tool') return '';
    throw error;
  }
}
