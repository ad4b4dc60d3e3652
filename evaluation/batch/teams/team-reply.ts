import type { ErrorCode } from '@gaia-mesh/core/contracts/errors.ts';
import type { TokenLedgerFigures } from '@gaia-mesh/core/run/metrics/token-ledger.ts';
import type { Question } from '../../questions/question.ts';
import type { RoleUsage, ToolCalls } from '../../results/role-usage.ts';
import type { MeshResult } from '../../results/task-result.ts';

/**
 * Asks a team one question. This function is all that the batch knows of the mesh.
 *
 * A failure of this question alone is a reply with `failed` or `timeout`. The promise rejects if no question can be asked any
 * more: `io` (disk full), `store`, `agent` and `handshake` (hub or agents lost), `interrupted`; or with a bug.
 */
export type AskTeam = (
  question: Question,
  attempt: { readonly cycle: number },
  signal: AbortSignal,
) => Promise<TeamReply>;

export interface TeamReply {
  readonly status: 'answered' | 'timeout' | 'failed';
  /** The team's answer before cleaning. */
  readonly rawAnswer: string | null;
  /** The bare answer; for a failed question the team's exact failure text, if it has one (C-20). */
  readonly answer: string | null;
  readonly reasoningTrace: string;
  /** Probability that the answer is right, if the engine reports it. */
  readonly confidence?: number | undefined;
  /** Reason why there is no answer. */
  readonly reason?: string | undefined;
  /** The kind of failure. Repeated `engine` or `agent` failures are not the questions' fault. */
  readonly code?: ErrorCode | undefined;
  readonly failedRole?: string | undefined;
  readonly usage: Readonly<RoleUsage>;
  readonly toolCalls: Readonly<ToolCalls>;
  /** Null if the model's server did not report it for every reply. */
  readonly tokens: number | null;
  /** US dollars; null if a price is not known. */
  readonly costUsd: number | null;
  readonly packets: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly modelCalls: number;
  /** Breakdown of the prompt tokens; set if a model was asked. */
  readonly tokenLedger?: TokenLedgerFigures | undefined;
  /** The end of its task on the mesh; undefined for an answer from the cache. */
  readonly mesh?: MeshResult;
}
