import { describe, expect, test } from 'vitest';
import { taskPlace } from '../../files/testing/task-place.ts';
import { analyzeChess } from './analyze-chess.ts';
import { bestMove } from './chess-search.ts';

const START = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';
const analyze = (fen: string, moves?: string[]) =>
  analyzeChess.run({ fen, ...(moves === undefined ? {} : { moves }) }, taskPlace());

describe('analyze_chess', () => {
  test('says which moves are legal', async () => {
    const { text, data } = await analyze(START);
    expect(data).toMatchObject({
      turn: 'white',
      is_check: false,
      is_checkmate: false,
      mates_in_one: [],
      score_centipawns: 0,
    });
    expect(data?.legal_moves).toHaveLength(20);
    expect(text).toContain('Legal moves (20): a3 a4');
  });

  test.each([
    [
      'a mate in one',
      '6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1',
      { mates_in_one: ['Ra8#'], best_move: 'Ra8#', mate_in: 1 },
    ],
    [
      'both mates in one',
      '6k1/5ppp/8/8/8/8/8/RQ4K1 w - - 0 1',
      { mates_in_one: ['Ra8#', 'Qb8#'], mate_in: 1 },
    ],
    [
      'a mate in two',
      'kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1',
      { best_move: 'Ra6', mate_in: 2, line: ['Ra6', 'bxa6', 'b7#'] },
    ],
    ['being mated', '6k1/8/6K1/8/8/8/8/R7 b - - 0 1', { best_move: 'Kf8', mate_in: -2 }],
    ['a fork', '4k3/8/8/8/1n6/8/8/R3K3 b - - 0 1', { best_move: 'Nc2+', score_centipawns: 320 }],
    ['a piece for nothing', '4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1', { best_move: 'exd5' }],
    ['an underpromotion that mates', '8/2P5/K7/8/8/8/8/k7 w - - 0 1', { best_move: 'c8=Q' }],
    [
      'checkmate',
      'rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3',
      { is_checkmate: true, best_move: null, legal_moves: [] },
    ],
    ['stalemate', '7k/5Q2/6K1/8/8/8/8/8 b - - 0 1', { is_stalemate: true, is_check: false, best_move: null }],
    ['castling', 'r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1', { is_check: false }],
  ])('finds %s', async (_what, fen, expected) => {
    expect((await analyze(fen)).data).toMatchObject(expected);
  });

  test('plays moves first, in either notation, and takes short positions', async () => {
    expect((await analyze(START, ['e4', 'e7e5', 'Qh5', 'Nc6', 'Bc4', 'Nf6'])).data).toMatchObject({
      mates_in_one: ['Qxf7#'],
      turn: 'white',
    });
    expect((await analyze('6k1/5ppp/8/8/8/8/8/R5K1 w')).data).toMatchObject({
      fen: '6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1',
    });
  });

  test.each([
    ['nonsense', 'is not valid'],
    ['8/8/8/8/8/8/8/8 w - - 0 1', 'missing white king'],
    ['k7/8/8/8/8/8/8/7KK w - - 0 1', 'is not valid'],
    ['kP6/8/8/8/8/8/8/P6K w - - 0 1', 'is not valid'],
    ['k7/8/8/8/8/8/8/R6K w - - 0 1', 'the side that has moved is in check'],
    ['k7/8/8/8/8/8/8/7K x - - 0 1', 'is not valid'],
  ])('the position %j is refused', async (fen, message) => {
    await expect(analyze(fen)).rejects.toThrow(message);
    await expect(analyze(fen)).rejects.toMatchObject({ code: 'tool' });
  });

  test('a move that the rules do not allow is refused with its number', async () => {
    await expect(analyze(START, ['e4', 'e4'])).rejects.toThrow(
      'move 2, "e4", is not possible in rnbqkbnr/pppppppp/8/8/4P3/',
    );
  });
});

describe('bestMove', () => {
  const idle = new AbortController().signal;
  const busy = 'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1';

  test('ends at its bound of positions, with what it found before', async () => {
    const result = await bestMove(busy, idle, { depth: 4, nodes: 3000 });
    expect(result?.nodes).toBeLessThan(3000 * 2);
    expect(result?.depth).toBeLessThan(4);
    expect(result?.line.length).toBeGreaterThan(0);
    expect(await bestMove(busy, idle, { depth: 4, nodes: 1 })).toMatchObject({ depth: 1 });
  });

  test('gives the same result each time', async () => {
    expect(await bestMove(busy, idle)).toEqual(await bestMove(busy, idle));
  });

  test('stops when it is told to', async () => {
    const controller = new AbortController();
    const search = bestMove(busy, controller.signal);
    controller.abort();
    await expect(search).rejects.toMatchObject({ code: 'tool' });
  });
});
