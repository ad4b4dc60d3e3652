import type { Chess } from 'chess.js';
import * as z from 'zod';
import { MeshError, messageOf } from '../../../core/contracts/errors.ts';
import { shortReason } from '../../../core/contracts/packet.ts';
import type { DataTool } from '../../data-tool.ts';
import { type ChessMove, squareName } from './chess-position.ts';
import { bestMove, type SearchResult } from './chess-search.ts';

/** Longer than any game that people played. */
const MAX_MOVES = 600;

const input = z.strictObject({
  fen: z.string().min(1).max(120),
  moves: z.array(z.string().min(1).max(12)).max(MAX_MOVES).exactOptional().describe('to play first'),
});

export const analyzeChess: DataTool<z.infer<typeof input>> = {
  name: 'analyze_chess',
  description: 'Legal moves, mates in one and best move of a chess position.',
  input,
  async run({ fen, moves = [] }, { signal }) {
    const game = await gameOf(fen, moves);
    const position = game.fen();
    const legal = game.moves();
    const mates = legal.filter((move) => move.endsWith('#'));
    const result = await bestMove(position, signal);
    const line = result === undefined ? [] : sanOf(game, result.line);
    const data = {
      fen: position,
      turn: game.turn() === 'w' ? 'white' : 'black',
      legal_moves: legal,
      is_check: game.isCheck(),
      is_checkmate: game.isCheckmate(),
      is_stalemate: game.isStalemate(),
      is_draw: game.isDraw(),
      mates_in_one: mates,
      best_move: line[0] ?? null,
      line,
      score_centipawns: result === undefined || result.mateIn !== undefined ? null : result.score,
      mate_in: result?.mateIn ?? null,
    };
    const text = [
      `Position ${position}: ${data.turn} to move, ${stateOf(game)}.`,
      game.ascii(),
      `Legal moves (${legal.length}): ${legal.join(' ')}`,
      `Mates in one: ${mates.length === 0 ? 'none' : mates.join(' ')}`,
      ...(result === undefined ? [] : [bestText(result, line)]),
    ];
    return { text: text.join('\n'), data };
  },
};

/** @throws MeshError `tool` for a position or a move that the rules do not allow */
async function gameOf(fen: string, moves: readonly string[]): Promise<Chess> {
  const { Chess } = await import('chess.js');
  const fields = fen.trim().split(/\s+/);
  const whole = [...fields, ...['', 'w', '-', '-', '0', '1'].slice(fields.length)].join(' ');
  const game = fromRules(`the position ${JSON.stringify(fen)} is not valid`, () => new Chess(whole));
  // Its own check does not look at this.
  const passive = game.turn() === 'w' ? 'b' : 'w';
  const king = game.findPiece({ type: 'k', color: passive })[0];
  if (king !== undefined && game.isAttacked(king, game.turn())) {
    throw new MeshError(
      'tool',
      `the position ${JSON.stringify(fen)} is not valid: the side that has moved is in check`,
    );
  }
  for (const [i, move] of moves.entries()) {
    fromRules(`move ${i + 1}, ${JSON.stringify(move)}, is not possible in ${game.fen()}`, () =>
      game.move(move),
    );
  }
  return game;
}

function fromRules<Result>(what: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new MeshError('tool', shortReason(`${what}: ${messageOf(cause)}`).toWellFormed(), { cause });
  }
}

/** The moves in standard notation; `game` is left as it was. */
function sanOf(game: Chess, line: readonly ChessMove[]): string[] {
  const names = line.map(({ from, to, promotion }) => {
    const letter = ' pnbrqk'[promotion] ?? '';
    return game.move(`${squareName(from)}${squareName(to)}${letter.trim()}`).san;
  });
  for (const _ of names) game.undo();
  return names;
}

function stateOf(game: Chess): string {
  if (game.isCheckmate()) return 'checkmate';
  if (game.isStalemate()) return 'stalemate';
  if (game.isDraw()) return 'a draw';
  return game.isCheck() ? 'in check' : 'not in check';
}

function bestText({ score, mateIn, depth }: SearchResult, line: readonly string[]): string {
  const pawns = (score / 100).toFixed(2);
  const worth =
    mateIn === undefined
      ? `material then ${score > 0 ? '+' : ''}${pawns} pawns`
      : mateIn > 0
        ? `mate in ${mateIn}`
        : `is mated in ${-mateIn}`;
  return `Best move: ${line[0]} (${worth}; ${depth} half-moves looked ahead, by material and mate only). Line: ${line.join(' ')}`;
}
