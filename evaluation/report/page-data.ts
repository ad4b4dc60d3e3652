import type { PacketHead } from '@gaia-mesh/core/contracts/packet.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type { BatchHead } from '../batch/journal/batch-head.ts';
import type { BlameFile } from '../blame/blame-file.ts';
import type { ComparisonFile, TeamsComparison } from '../compare/comparison-file.ts';
import type { findKnownUse } from '../results/figures.ts';
import type { TeamSummary } from '../results/summary.ts';
import type { ShownAttempt } from './shown-attempt.ts';

/** A packet without its payload, as a recording or the events of a running command have it. */
export interface ShownPacket extends PacketHead {
  readonly bytes: number;
  /** Milliseconds from the first packet's arrival at the hub to that of this one. */
  readonly atMs: number;
  /** Index of the packet that caused it; missing for a document, and while the run goes on. */
  readonly cause?: number | undefined;
  /** Milliseconds in the sender's tool, and from the end of its work to `atMs`. */
  readonly toolMs?: number | undefined;
  readonly afterToolMs?: number | undefined;
}

/** The packets of a run in the order in which the hub received them, and the agents that may have sent them. */
export interface Traffic {
  readonly agents: readonly { readonly id: string; readonly tool: string }[];
  readonly packets: readonly ShownPacket[];
  /** False if no hub timed the packets: they then stand a millisecond apart, in their order. */
  readonly isTimed: boolean;
}

/** The data of a run for its page: its measurements as they were written, and texts that the terminal shows as well. */
export interface RunData {
  readonly metrics: RunMetrics;
  /** The origin of the run; null for each fact that its archive does not have. */
  readonly made: {
    readonly startedAt: string | null;
    readonly command: string | null;
    readonly machine: string | null;
  };
  /** The warnings of the run, in words. */
  readonly warnings: readonly string[];
  readonly tasks: readonly { readonly id: string; readonly question: string | null }[];
  /** Attempts with their ids, which the packets name as their tasks. */
  readonly results: readonly (ShownAttempt & { readonly id: string })[];
  /** null for a run that was too long to be recorded. */
  readonly traffic: Traffic | null;
  /** The contents of the first packets as JSON; the page of a file has them apart from its other data. */
  readonly details: readonly string[];
  /** Sentences on the parts of the run that the page lacks. */
  readonly notes: readonly string[];
  /** The agents' own notes: the end of each log, and the steps of each task. */
  readonly logs: {
    readonly agents: readonly { readonly id: string; readonly text: string }[];
    readonly traces: readonly { readonly task_id: string; readonly text: string }[];
  };
}

/** The data of a batch for its page: records of its files and computed figures. The page itself puts them into words. */
export interface BatchData {
  /** The comparison of the teams as in `comparison.json`, without samples. */
  readonly comparison: TeamsComparison;
  readonly teams: readonly TeamFigures[];
  /** The questions that the page holds, of all that were asked. */
  readonly questions: BatchHead['questions'];
  /** Attempts of the shown questions in the first cycles. */
  readonly attempts: readonly ShownAttempt[];
  readonly cyclesShown: number;
  /** Sentences on the parts of the batch that the page lacks, and warnings of attempts. */
  readonly notes: readonly string[];
}

/** A team with its figures, and the resources that it used, with those of cached answers if they are known. */
interface TeamFigures {
  readonly name: string;
  readonly summary: TeamSummary;
  readonly use: ReturnType<typeof findKnownUse>;
}

/** A result, as it is embedded in its page. */
export type ReportData =
  | { readonly kind: 'run'; readonly run: RunData }
  | { readonly kind: 'batch'; readonly batch: BatchData }
  | { readonly kind: 'blame'; readonly blame: BlameFile }
  | { readonly kind: 'comparison'; readonly comparison: ComparisonFile };

/** A running command, whose page requests its events from the server. */
interface LivePlace {
  readonly kind: 'live';
  readonly title: string;
}

/** A folder of results: its page has the whole list. */
export interface FolderPlace {
  readonly kind: 'folder';
  readonly title: string;
  readonly items: readonly {
    readonly id: string;
    readonly kind: string;
    /** The file's path below the folder. */
    readonly place: string;
    readonly modifiedMs: number;
    /** The question, or the number of tasks or arms. */
    readonly question: string;
    /** The answer, or the result in a sentence. */
    readonly answer: string;
    /** `right`, `wrong`, or the number of right answers; empty if it is not known. */
    readonly verdict: string;
    /** Team, adapter and engine, or the compared arms. */
    readonly setting: string;
  }[];
  /** One phrase for each group of entries left out of the list. */
  readonly left: readonly string[];
}

export type PageContent = ReportData | LivePlace | FolderPlace;

/** The origin of a page, which it shows at its foot. */
export interface PageOrigin {
  readonly version: string;
  readonly madeAt: string;
  /** The command line, without secrets. */
  readonly command: string;
  readonly machine: string;
  /** True if the page belongs to the list of a folder, two levels above. */
  readonly isListed: boolean;
}
