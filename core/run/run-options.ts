import type { ProtocolAdapter } from '../contracts/adapter.ts';
import type { Engine } from '../contracts/engine.ts';
import type { Task } from '../contracts/task.ts';
import type { ModelSums, Usage } from '../contracts/usage.ts';
import type { DeliveryEvent } from '../hub/delivery/faulty.ts';
import type { MeshObserver } from '../hub/mesh-observer.ts';
import type { TaskOutcome } from '../hub/tasks/task-clock.ts';
import type { AgentGroupOptions, AgentUp } from './agents/agent-group.ts';
import type { Scores } from './metrics/metrics-schema.ts';
import type { TokenLedgerFigures } from './metrics/token-ledger.ts';
import type { FaultRequest } from './run-faults.ts';

/** What a run is made of, looked up and checked before anything is started. */
export interface RunOptions
  extends Pick<
    AgentGroupOptions,
    | 'team'
    | 'portBase'
    | 'external'
    | 'entry'
    | 'readable'
    | 'launchOf'
    | 'portHint'
    | 'howToStart'
    | 'environment'
    | 'signal'
  > {
  readonly adapter: ProtocolAdapter;
  /** What an answer is worth; no answer is null. */
  readonly score: (task: Task, answer: string | null) => Scores;
  /** Folder for the results. */
  readonly out: string;
  /** The results there are gone on with, instead of being put aside. */
  readonly resumes?: boolean;
  readonly timeoutMs: number;
  readonly engine: Pick<Engine, 'tokenSource'> & { readonly name: string };
  /** What the manifest says about how the run was asked for. */
  readonly version: string;
  readonly codeFolder: string;
  readonly command: readonly string[];
  readonly observer: RunObserver;
  /** Ids of agents that hand work on to others, of whose tokens nobody here knows. */
  readonly unseen?: ReadonlySet<string>;
  /** Files that lie in agents' workspaces from the start, for their tools alone. */
  readonly workspaceFiles?: readonly {
    readonly agent: string;
    readonly name: string;
    readonly text: string;
  }[];
  /** Faults to inject, and whether agents that die are started again. */
  readonly faults?: FaultRequest;
}

/** Bounds of one task, instead of the run's. */
export interface TaskBounds {
  readonly timeoutMs?: number;
  readonly maxTokens?: number;
  readonly signal?: AbortSignal;
}

/** A run that has just begun. */
interface BegunRun {
  readonly runId: string;
  readonly team: string;
  readonly adapter: string;
  readonly engine: string;
  readonly agents: readonly { readonly id: string; readonly tool: string }[];
  readonly workspaces: string;
}

/** What a run tells whoever watches, beside what its mesh does. */
export interface RunObserver extends Partial<MeshObserver> {
  /** The run has its id and its folder; agents are about to start. */
  began?(run: BegunRun): void;
  agentUp?(agent: AgentUp): void;
  taskEnded?(outcome: TaskOutcome, sums: Pick<TaskRunResult, 'scores' | 'models'>): void;
  /** A fault struck a delivery. */
  deliveryFault?(event: DeliveryEvent): void;
  /** A fault with a time of its own began or ended, or an agent came back. */
  faultEvent?(news: string): void;
}

/** What asking a task came to, with all that its end came with. */
export interface TaskRunResult {
  readonly outcome: TaskOutcome;
  readonly scores: Scores;
  /** What models took for it; undefined in runs without one. */
  readonly models: ModelSums | undefined;
  /** The same by role and model. */
  readonly usage: readonly Usage[];
  /** Its tokens part by part; undefined where no model was asked. */
  readonly tokenLedger: TokenLedgerFigures | undefined;
}
