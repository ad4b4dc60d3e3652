import { setImmediate as breathe } from 'node:timers/promises';
import { MeshError } from '../../../core/contracts/errors.ts';
import { type ChessMove, ChessPosition } from './chess-position.ts';

export interface SearchResult {
  /** The best move, and what both sides play then. */
  readonly line: readonly ChessMove[];
  /** Centipawns for the side to move. */
  readonly score: number;
  /** In how many moves the side to move mates; negative where it is mated. */
  readonly mateIn: number | undefined;
  /** Half-moves that were looked through completely. */
  readonly depth: number;
  readonly nodes: number;
}

interface SearchBounds {
  /** Half-moves; captures that follow come on top. */
  readonly depth: number;
  /** Positions looked at. The depth that is under way when they are spent is not used. */
  readonly nodes: number;
}

/** Some seconds. */
const SEARCH_BOUNDS: SearchBounds = { depth: 4, nodes: 600_000 };

/** Captures in a row after the last half-move. */
const MAX_CAPTURES = 8;

const MATE = 1_000_000;
/** Scores nearer to {@link MATE} than this are mates. */
const MATE_RANGE = 1000;
/** By piece, in centipawns. */
const VALUES = [0, 100, 320, 330, 500, 900, 0];

/**
 * The best move by material and mate: alpha-beta, one half-move deeper each time, captures to their end. The same position gives
 * the same result on every machine, since positions are counted and not time. Undefined where there is no move.
 *
 * @throws MeshError `tool` when `signal` is aborted
 */
export async function bestMove(
  fen: string,
  signal: AbortSignal,
  bounds: SearchBounds = SEARCH_BOUNDS,
): Promise<SearchResult | undefined> {
  const position = new ChessPosition(fen);
  let moves = ordered(position, position.legalMoves());
  const search = new Search(position, bounds.nodes);
  let result: SearchResult | undefined;
  for (let depth = 1; depth <= bounds.depth; depth++) {
    let best: Scored | undefined;
    for (const move of moves) {
      // The search itself does not wait, so others have their turn here.
      await breathe();
      if (signal.aborted)
        throw new MeshError('tool', 'the search for the best move was stopped: the run has ended');
      position.make(move);
      const reply = search.look(depth - 1, 1, -MATE, -(best?.score ?? -MATE));
      position.unmake();
      if (best === undefined || -reply.score > best.score)
        best = { score: -reply.score, line: [move, ...reply.line] };
    }
    // The first depth is short, and counts in any case.
    if (best === undefined || (search.isSpent && result !== undefined)) break;
    const mateIn = movesToMate(best.score);
    result = { ...best, mateIn, depth, nodes: search.nodes };
    if (mateIn !== undefined || search.isSpent) break;
    const [first] = best.line;
    moves = [...moves].sort((a, b) => Number(b === first) - Number(a === first));
  }
  return result;
}

function movesToMate(score: number): number | undefined {
  const halfMoves = MATE - Math.abs(score);
  return halfMoves > MATE_RANGE ? undefined : Math.sign(score) * Math.ceil(halfMoves / 2);
}

interface Scored {
  /** For the side to move. */
  readonly score: number;
  readonly line: readonly ChessMove[];
}

class Search {
  nodes = 0;
  readonly #position: ChessPosition;
  readonly #maxNodes: number;

  constructor(position: ChessPosition, maxNodes: number) {
    this.#position = position;
    this.#maxNodes = maxNodes;
  }

  get isSpent(): boolean {
    return this.nodes >= this.#maxNodes;
  }

  /** `depth` below 0 counts captures. Not to be used when the nodes are spent. */
  look(depth: number, ply: number, alpha: number, beta: number): Scored {
    this.nodes++;
    const position = this.#position;
    const isCheck = position.isCheck();
    // Who is in check has no choice of standing still.
    const isQuiet = depth <= 0 && !isCheck;
    let best: Scored = isQuiet ? { score: this.#material(), line: [] } : { score: -MATE + ply, line: [] };
    if (this.isSpent || depth <= -MAX_CAPTURES) return { score: this.#material(), line: [] };
    if (isQuiet && best.score >= beta) return best;
    const moves = position.legalMoves(isQuiet);
    if (moves.length === 0) return isQuiet || isCheck ? best : { score: 0, line: [] };
    let lowest = Math.max(alpha, best.score);
    for (const move of ordered(position, moves)) {
      position.make(move);
      const reply = this.look(depth - 1, ply + 1, -beta, -lowest);
      position.unmake();
      if (-reply.score > best.score) best = { score: -reply.score, line: [move, ...reply.line] };
      if (best.score >= beta) break;
      lowest = Math.max(lowest, best.score);
    }
    return best;
  }

  #material(): number {
    const { board, side } = this.#position;
    let sum = 0;
    for (let square = 0; square < 120; square++) {
      const piece = board[square] ?? 0;
      if (piece !== 0 && (square & 0x88) === 0) sum += Math.sign(piece) * (VALUES[Math.abs(piece)] ?? 0);
    }
    return sum * side;
  }
}

/** What takes much with little first: the sooner a good move is seen, the more is cut off. */
function ordered({ board }: ChessPosition, moves: readonly ChessMove[]): ChessMove[] {
  const gain = ({ from, captured, promotion }: ChessMove) =>
    captured === 0 && promotion === 0
      ? 0
      : 10 * (VALUES[Math.abs(captured)] ?? 0) +
        (VALUES[promotion] ?? 0) * 10 -
        (VALUES[Math.abs(board[from] ?? 0)] ?? 0) +
        1000;
  return moves
    .map((move) => ({ move, gain: gain(move) }))
    .sort((a, b) => b.gain - a.gain)
    .map(({ move }) => move);
}
