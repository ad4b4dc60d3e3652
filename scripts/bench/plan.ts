import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { loadTeam } from '../../config/load-team.ts';
import { codeFolder } from '../../config/package-root.ts';
import { userPath } from '../../config/user-paths.ts';
import type { ProtocolAdapter } from '../../core/adapter.ts';
import { DELIVERIES } from '../../core/delivery.ts';
import { MeshError } from '../../core/errors.ts';
import { type Scorer, scorerNamed } from '../../core/evaluation/scorer.ts';
import { unknown } from '../../core/registry.ts';
import type { FaultRequest } from '../../core/run/run-faults.ts';
import type { Task } from '../../core/tasks/task.ts';
import { readDocument, readTaskFile, readTaskFolder, readTruth } from '../../core/tasks/task-source.ts';
import { type Team, TRANSPORTS } from '../../core/team.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { engineNames } from '../../tools/engines/registry.ts';
import { checkTeamServers } from '../check-servers.ts';
import { listOf } from '../option-values.ts';
import { type FaultOptions, faultRequest } from './fault-request.ts';

export interface BenchOptions extends FaultOptions {
  readonly team: string;
  readonly adapter?: string;
  readonly engine?: string;
  readonly model?: string;
  readonly host?: string;
  readonly task?: string;
  readonly document?: string;
  readonly question?: string;
  readonly answer?: string;
  readonly tasks?: string;
  readonly limit?: number;
  readonly resume?: boolean;
  readonly concurrency: number;
  readonly scorer?: string;
  readonly out?: string;
  readonly portBase?: number | 'auto';
  readonly timeout?: number;
  readonly delivery?: string;
  readonly external?: string;
  readonly transport?: string;
  readonly natsUrl?: string;
  readonly natsSubject?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** What a `bench` will do, with everything looked up and checked: nothing has been started or written yet. */
export interface Plan {
  readonly team: Team;
  readonly adapter: ProtocolAdapter;
  readonly scorer: Scorer;
  readonly tasks: readonly Task[];
  /** Tasks came from a file of many: results are written line by line, and a summary is printed. */
  readonly isBatch: boolean;
  readonly concurrency: number;
  readonly external: ReadonlySet<string>;
  readonly timeoutMs: number;
  readonly faults: FaultRequest | undefined;
  /** Things that the user should know and that stop nothing. */
  readonly warnings: readonly string[];
}

const MAX_PORT = 65_535;
const DEFAULT_TASK = 'cairn-astel-light';

/** @throws MeshError `usage` or `config` */
export async function planOf(options: BenchOptions): Promise<Plan> {
  const warnings: string[] = [];
  const team = withOptions(loadTeam(options.team, userPath), options);
  checkTeamServers(team);
  const external = new Set(listOf(options.external));
  for (const id of external) {
    if (team.agents.some((agent) => agent.id === id)) continue;
    const ids = team.agents.map((agent) => agent.id).join(', ');
    throw new MeshError('usage', `--external ${id}: team ${team.name} has no agent ${id}; it has ${ids}`);
  }
  const lastPort = Number(options.portBase) + team.agents.length - 1;
  if (lastPort > MAX_PORT) {
    const most = MAX_PORT - team.agents.length + 1;
    throw new MeshError(
      'usage',
      `--port-base ${options.portBase}: ${team.agents.length} agents need at most ${most}`,
    );
  }
  const ways = ['task', 'document', 'tasks'].filter((way) => way in options);
  if (ways.length > 1)
    throw new MeshError('usage', `choose one of ${ways.map((way) => `--${way}`).join(' and ')}`);
  const isBatch = options.tasks !== undefined;
  if (!isBatch && options.limit !== undefined) throw new MeshError('usage', '--limit goes with --tasks');
  if (!isBatch && options.resume === true) throw new MeshError('usage', '--resume goes with --tasks');
  if (isBatch && (options.question !== undefined || options.answer !== undefined)) {
    throw new MeshError('usage', '--question and --answer go with --document: a task file has its own');
  }
  const adapter = await adapterNamed(team.adapter);
  return {
    team,
    adapter,
    scorer: scorerNamed(team.scorer),
    tasks:
      options.tasks === undefined
        ? [oneTask(options, warnings)]
        : readTaskFile(userPath(options.tasks), options.limit),
    isBatch,
    concurrency: options.concurrency,
    external,
    timeoutMs: team.limits.task_timeout_s * 1000,
    faults: faultRequest(options, team, adapter, external),
    warnings,
  };
}

/** Names of the tasks that ship with the project. */
export function shippedTasks(): string[] {
  return readdirSync(tasksFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

export const tasksFolder: string = path.join(codeFolder, 'config', 'tasks');

function oneTask(options: BenchOptions, warnings: string[]): Task {
  if (options.document === undefined) {
    if (options.answer !== undefined)
      throw new MeshError('usage', '--answer goes with --document and --question');
    const task = readTaskFolder(taskFolder(options.task ?? DEFAULT_TASK));
    // Another question about the same document: its truth is not this one's.
    return options.question === undefined ? task : { ...task, question: options.question, truths: [] };
  }
  if (options.question === undefined || options.question.trim() === '') {
    throw new MeshError('usage', '--document needs a --question about it');
  }
  const file = userPath(options.document);
  const document = readDocument(file);
  if (document.trim() === '') throw new MeshError('config', `document ${file}: it is empty`);
  return {
    taskId: path.basename(file),
    question: options.question,
    document,
    truths: options.answer === undefined ? truthBeside(file, options.question, warnings) : [options.answer],
  };
}

/** A `ground_truth.json` beside the document counts if it is about the same question. */
function truthBeside(documentFile: string, question: string, warnings: string[]): string[] {
  const file = path.join(path.dirname(documentFile), 'ground_truth.json');
  if (!existsSync(file)) return [];
  try {
    const truth = readTruth(file);
    return truth.question === undefined || truth.question === question
      ? [truth.answer, ...(truth.aliases ?? [])]
      : [];
  } catch (error) {
    // The answer is worth having even where it cannot be scored (MP-61).
    if (!(error instanceof MeshError)) throw error;
    warnings.push(`${error.message}: the answer is not scored`);
    return [];
  }
}

function taskFolder(nameOrFolder: string): string {
  const shipped = path.join(tasksFolder, path.basename(nameOrFolder));
  if (nameOrFolder === path.basename(nameOrFolder) && existsSync(shipped)) return shipped;
  const folder = userPath(nameOrFolder);
  if (existsSync(folder)) return folder;
  throw new MeshError(
    'usage',
    `no task ${nameOrFolder}: neither a folder, nor one of ${shippedTasks().join(', ')}`,
  );
}

/** The command line wins over the team file. */
function withOptions(team: Team, options: BenchOptions): Team {
  if (options.engine !== undefined && !engineNames.includes(options.engine)) {
    throw unknown('engine', options.engine, engineNames);
  }
  const delivery = DELIVERIES.find((name) => name === (options.delivery ?? team.delivery));
  if (delivery === undefined)
    throw new MeshError('usage', `--delivery ${options.delivery}: expected ${DELIVERIES.join(' or ')}`);
  const agents = team.agents.map((agent) => {
    const { engine: _engine, model: _model, ...rest } = agent;
    // An engine for the run is an engine for every agent.
    return options.engine === undefined ? agent : rest;
  });
  return {
    ...team,
    agents,
    delivery,
    adapter: options.adapter ?? team.adapter,
    engine: options.engine ?? team.engine,
    scorer: options.scorer ?? team.scorer,
    limits: { ...team.limits, task_timeout_s: options.timeout ?? team.limits.task_timeout_s },
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.host === undefined ? {} : { model_host: options.host }),
    transport: transportOf(options) ?? team.transport,
    ...(options.natsUrl === undefined ? {} : { nats_url: options.natsUrl }),
    ...(options.natsSubject === undefined ? {} : { nats_subject: options.natsSubject }),
  };
}

function transportOf({ transport, natsUrl, natsSubject }: BenchOptions): Team['transport'] | undefined {
  const isOfNats = natsUrl !== undefined || natsSubject !== undefined;
  if (transport === undefined) return isOfNats ? 'nats' : undefined;
  const known = TRANSPORTS.find((name) => name === transport);
  if (known === undefined) throw unknown('transport', transport, TRANSPORTS);
  if (isOfNats && known !== 'nats') {
    throw new MeshError('usage', '--nats-url and --nats-subject go with --transport nats');
  }
  return known;
}
