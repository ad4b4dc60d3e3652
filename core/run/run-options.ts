import type { ProtocolAdapter } from '../contracts/adapter.ts';
import type { Engine } from '../contracts/engine.ts';
import type { Task } from '../contracts/task.ts';
import type { ModelSums, Usage } from '../contracts/usage.ts';
import type { RunWarning } from '../contracts/warning.ts';
import type { Batch } from '../hub/batch.ts';
import type { TaskOutcome } from '../hub/tasks/task-clock.ts';
import type { Network } from '../transports/network/network.ts';
import type { AgentGroupOptions } from './agents/agent-group.ts';
import type { Scores } from './metrics/metrics-schema.ts';
import type { TokenLedgerFigures } from './metrics/token-ledger.ts';
import type { RunEvent } from './run-event.ts';
import type { FaultRequest } from './run-faults.ts';

/** Everything a run needs, resolved and checked before anything is started. */
export interface RunOptions
  extends Pick<
    AgentGroupOptions,
    'team' | 'portBase' | 'external' | 'launchOf' | 'portHint' | 'howToStart' | 'environment' | 'signal'
  > {
  readonly adapter: ProtocolAdapter;
  /** Scores an answer; null means that there is none. */
  readonly score: (task: Task, answer: string | null) => Scores;
  /** Folder for the results. */
  readonly out: string;
  /** True to continue the results there, instead of moving them aside. */
  readonly resumes?: boolean | undefined;
  readonly timeoutMs: number;
  readonly engine: Pick<Engine, 'tokenSource'> & { readonly name: string };
  /** The run's command, for the manifest. */
  readonly command: readonly string[];
  readonly observer: RunObserver;
  /** Number of questions that will be asked, where it is known. */
  readonly questions?: number | undefined;
  /** Ids of agents that hand work on to others, so that their token counts are unknown. */
  readonly unseen?: ReadonlySet<string>;
  /** Files that lie in agents' workspaces from the start, for their tools alone. */
  readonly workspaceFiles?: readonly {
    readonly agent: string;
    readonly name: string;
    readonly text: string;
  }[];
  /** Faults to inject, and the choice to restart agents that die. */
  readonly faults?: FaultRequest | undefined;
  /** The network between the hub and each agent; null or undefined for the loopback alone. */
  readonly network?: Network | null | undefined;
}

/** Receives what happens in a run. */
export interface RunObserver {
  /** Called with the folder of the agents' workspaces before the run's first event. */
  began?(workspaces: string): void;
  event?(event: RunEvent): void;
  /** Called with relayed packets in their batches, since they are too many for single events. */
  relayed?(batch: Batch): void;
}

/** The end of a task with its scores and usage. */
export interface TaskEnd extends TaskOutcome {
  readonly scores: Scores;
  /** Usage of models for it; undefined in runs without one. */
  readonly models: ModelSums | undefined;
  /** Usage by role and model. */
  readonly usage: readonly Usage[];
  /** Its tokens by kind; undefined if no model was asked. */
  readonly tokenLedger: TokenLedgerFigures | undefined;
  /** The losses of servers and agents outside of the mesh while it ran. */
  readonly warnings: readonly RunWarning[];
}
