import type { ErrorCode } from '@gaia-mesh/core/contracts/errors.ts';
import type { TokenLedgerFigures } from '@gaia-mesh/core/run/metrics/token-ledger.ts';
import type { Question } from '../../questions/question.ts';
import type { GaiaResult } from '../../results/gaia-result.ts';
import type { MeshResult } from '../../results/task-result.ts';

/**
 * Has one question answered by a team. It is the only thing that the batch knows of the mesh.
 *
 * A failure of this question alone comes as a reply with `failed` or `timeout`. It rejects when no question can be asked any more:
 * `io` (disk full), `store`, `agent` and `handshake` (hub or agents lost), `interrupted`; or with a bug.
 */
export type AskTeam = (
  question: Question,
  attempt: { readonly cycle: number },
  signal: AbortSignal,
) => Promise<TeamReply>;

export interface TeamReply {
  readonly status: 'answered' | 'timeout' | 'failed';
  /** What the team said, before it was cleaned. */
  readonly rawAnswer: string | null;
  /** The bare answer; of a failed question its exact failure text, where the team has one (C-20). */
  readonly answer: string | null;
  readonly reasoningTrace: string;
  /** How probable it is that the answer is right, where the engine says it. */
  readonly confidence?: number;
  /** What stood in the way of an answer. */
  readonly reason?: string;
  /** The kind of failure: `engine` and `agent` again and again mean that it is not the question's fault. */
  readonly code?: ErrorCode;
  readonly failedRole?: string;
  readonly usage: Readonly<GaiaResult['usage']>;
  readonly toolCalls: Readonly<GaiaResult['tool_calls']>;
  /** Null where the model's server did not say it of each reply. */
  readonly tokens: number | null;
  /** US dollars; null where a price is not known. */
  readonly costUsd: number | null;
  readonly packets: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly modelCalls: number;
  /** What its prompt tokens were; there where a model was asked. */
  readonly tokenLedger?: TokenLedgerFigures;
  /** How its task ended on the mesh; undefined for an answer from the cache. */
  readonly mesh?: MeshResult;
}
