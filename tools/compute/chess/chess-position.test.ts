import { Chess } from 'chess.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChessPosition, squareName } from './chess-position.ts';

/** How many games of `depth` half-moves there are. */
function perft(position: ChessPosition, depth: number): number {
  const moves = position.legalMoves();
  if (depth === 1) return moves.length;
  let count = 0;
  for (const move of moves) {
    position.make(move);
    count += perft(position, depth - 1);
    position.unmake();
  }
  return count;
}

// The numbers are those of the chess programming community (chessprogramming.org, "Perft Results").
test.each([
  ['the start', 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1', [20, 400, 8902]],
  [
    'castling and pins',
    'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
    [48, 2039, 97862],
  ],
  ['en passant', '8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1', [14, 191, 2812, 43238]],
  ['promotions', 'r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1', [6, 264, 9467]],
  ['discovered checks', 'rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8', [44, 1486, 62379]],
])('counts the games from a position with %s', (_what, fen, counts) => {
  counts.forEach((count, i) => {
    expect(perft(new ChessPosition(fen), i + 1)).toBe(count);
  });
});

test('has the moves and the checks of chess.js all along games at random, and takes them back', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 60 }), (choices) => {
      const game = new Chess();
      const position = new ChessPosition(game.fen());
      let made = 0;
      for (const choice of choices) {
        const names = position
          .legalMoves()
          .map(
            ({ from, to, promotion }) =>
              squareName(from) + squareName(to) + (' pnbrqk'[promotion] ?? '').trim(),
          );
        const theirs = game.moves({ verbose: true }).map(({ lan }) => lan);
        expect(names.toSorted()).toEqual(theirs.toSorted());
        expect(position.isCheck()).toBe(game.isCheck());
        const move = position.legalMoves()[choice % Math.max(1, names.length)];
        const name = names[choice % Math.max(1, names.length)];
        if (move === undefined || name === undefined) break;
        position.make(move);
        game.move(name);
        made++;
      }
      for (; made > 0; made--) position.unmake();
      expect(position).toEqual(new ChessPosition(new Chess().fen()));
    }),
    { seed: 64, numRuns: 12 },
  );
});
