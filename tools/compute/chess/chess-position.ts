/**
 * A chess position that is quick to search. chess.js, which reads and names moves, takes half a millisecond for each that it makes;
 * it is what this file is tested against.
 *
 * The board is 0x88: square = 16 × rank + file with rank 0 for White's own, so that a step off the board shows in `square & 0x88`.
 * Pieces are 1 to 6 for White's pawn, knight, bishop, rook, queen and king, their negatives for Black's, 0 for nothing.
 */
export interface ChessMove {
  readonly from: number;
  readonly to: number;
  /** The piece that a pawn becomes, without colour; 0 for none. */
  readonly promotion: number;
  readonly captured: number;
  readonly isEnPassant: boolean;
}

const [PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING] = [1, 2, 3, 4, 5, 6];
const DIAGONALS = [-17, -15, 15, 17];
const LINES = [-16, -1, 1, 16];
const ALL = [...DIAGONALS, ...LINES];
const JUMPS = [-33, -31, -18, -14, 14, 18, 31, 33];

/** Of `castling`: what each side may still do. */
const CASTLING = { K: 1, Q: 2, k: 4, q: 8 };
/** What a move from or to a corner or a king's square ends. */
const LOST: ReadonlyMap<number, number> = new Map([
  [0x00, CASTLING.Q],
  [0x07, CASTLING.K],
  [0x04, CASTLING.K | CASTLING.Q],
  [0x70, CASTLING.q],
  [0x77, CASTLING.k],
  [0x74, CASTLING.k | CASTLING.q],
]);

interface Undo {
  readonly move: ChessMove;
  readonly piece: number;
  readonly castling: number;
  readonly enPassant: number;
}

export class ChessPosition {
  readonly board = new Int8Array(128);
  /** 1 for White, −1 for Black. */
  side: 1 | -1;
  #castling = 0;
  /** The square behind a pawn that just went two steps; −1 for none. */
  #enPassant = -1;
  readonly #kings = { 1: 0, '-1': 0 };
  readonly #undo: Undo[] = [];

  /** @param fen a valid one, with both kings */
  constructor(fen: string) {
    const [placement = '', side = 'w', castling = '-', enPassant = '-'] = fen.split(' ');
    placement.split('/').forEach((row, i) => {
      let square = (7 - i) * 16;
      for (const letter of row) {
        if (/\d/.test(letter)) {
          square += Number(letter);
          continue;
        }
        const piece = 'pnbrqk'.indexOf(letter.toLowerCase()) + 1;
        const colour = letter === letter.toUpperCase() ? 1 : -1;
        if (piece === KING) this.#kings[colour] = square;
        this.board[square++] = piece * colour;
      }
    });
    this.side = side === 'w' ? 1 : -1;
    for (const [letter, bit] of Object.entries(CASTLING))
      if (castling.includes(letter)) this.#castling |= bit;
    if (enPassant !== '-') this.#enPassant = squareNumber(enPassant);
  }

  isCheck(): boolean {
    return this.#isAttacked(this.#kings[this.side], opposite(this.side));
  }

  /** All moves that leave the own king safe. */
  legalMoves(onlyCaptures = false): ChessMove[] {
    const mover = this.side;
    return this.#moves(onlyCaptures).filter((move) => {
      this.make(move);
      const isSafe = !this.#isAttacked(this.#kings[mover], this.side);
      this.unmake();
      return isSafe;
    });
  }

  make(move: ChessMove): void {
    const { board } = this;
    const { from, to, promotion, isEnPassant } = move;
    const piece = this.#at(from);
    this.#undo.push({ move, piece, castling: this.#castling, enPassant: this.#enPassant });
    board[from] = 0;
    board[to] = promotion === 0 ? piece : promotion * this.side;
    if (isEnPassant) board[to - 16 * this.side] = 0;
    const kind = Math.abs(piece);
    if (kind === KING) {
      this.#kings[this.side] = to;
      if (Math.abs(to - from) === 2) this.#moveRook(from, to, 1);
    }
    this.#castling &= ~((LOST.get(from) ?? 0) | (LOST.get(to) ?? 0));
    this.#enPassant = kind === PAWN && Math.abs(to - from) === 32 ? (from + to) / 2 : -1;
    this.side = opposite(this.side);
  }

  /** Takes the last move back. */
  unmake(): void {
    const last = this.#undo.pop();
    if (last === undefined) throw new RangeError('there is no move to take back');
    const { from, to, captured, isEnPassant } = last.move;
    this.side = opposite(this.side);
    this.board[from] = last.piece;
    this.board[to] = isEnPassant ? 0 : captured;
    if (isEnPassant) this.board[to - 16 * this.side] = captured;
    if (Math.abs(last.piece) === KING) {
      this.#kings[this.side] = from;
      if (Math.abs(to - from) === 2) this.#moveRook(from, to, -1);
    }
    this.#castling = last.castling;
    this.#enPassant = last.enPassant;
  }

  #at(square: number): number {
    return this.board[square] ?? 0;
  }

  #moveRook(kingFrom: number, kingTo: number, way: 1 | -1): void {
    const corner = kingTo > kingFrom ? kingTo + 1 : kingTo - 2;
    const beside = (kingFrom + kingTo) / 2;
    const [from, to] = way === 1 ? [corner, beside] : [beside, corner];
    this.board[to] = this.#at(from);
    this.board[from] = 0;
  }

  #isAttacked(square: number, by: 1 | -1): boolean {
    const stands = (at: number, piece: number) => (at & 0x88) === 0 && this.#at(at) === piece * by;
    if (stands(square - 16 * by - 1, PAWN) || stands(square - 16 * by + 1, PAWN)) return true;
    if (
      JUMPS.some((step) => stands(square + step, KNIGHT)) ||
      ALL.some((step) => stands(square + step, KING))
    )
      return true;
    const sees = (step: number, piece: number) => {
      let at = square + step;
      while ((at & 0x88) === 0 && this.#at(at) === 0) at += step;
      return stands(at, piece) || stands(at, QUEEN);
    };
    return DIAGONALS.some((step) => sees(step, BISHOP)) || LINES.some((step) => sees(step, ROOK));
  }

  /** All moves by the rules of the pieces, whether the own king is safe or not. */
  #moves(onlyCaptures: boolean): ChessMove[] {
    const moves: ChessMove[] = [];
    const add = (from: number, to: number) => {
      const captured = this.#at(to);
      if (captured !== 0 || !onlyCaptures)
        moves.push({ from, to, promotion: 0, captured, isEnPassant: false });
    };
    for (let from = 0; from < 120; from++) {
      const piece = this.#at(from) * this.side;
      if ((from & 0x88) !== 0 || piece <= 0) continue;
      if (piece === PAWN) this.#pawnMoves(from, onlyCaptures, moves);
      else if (piece === KNIGHT) this.#steps(from, JUMPS, false, add);
      else if (piece === KING) this.#steps(from, ALL, false, add);
      else this.#steps(from, piece === BISHOP ? DIAGONALS : piece === ROOK ? LINES : ALL, true, add);
      if (piece === KING && !onlyCaptures) this.#castles(from, add);
    }
    return moves;
  }

  #steps(
    from: number,
    steps: readonly number[],
    isFar: boolean,
    add: (from: number, to: number) => void,
  ): void {
    for (const step of steps) {
      for (let to = from + step; (to & 0x88) === 0; to += step) {
        const target = this.#at(to);
        if (target * this.side <= 0) add(from, to);
        if (target !== 0 || !isFar) break;
      }
    }
  }

  #pawnMoves(from: number, onlyCaptures: boolean, moves: ChessMove[]): void {
    const forward = 16 * this.side;
    const add = (to: number, captured: number, isEnPassant = false) => {
      const isLast = (to >> 4) % 7 === 0;
      for (const promotion of isLast ? [QUEEN, ROOK, BISHOP, KNIGHT] : [0])
        moves.push({ from, to, promotion, captured, isEnPassant });
    };
    const ahead = from + forward;
    if (this.#at(ahead) === 0) {
      // Becoming a queen changes as much as a capture.
      if (!onlyCaptures || (ahead >> 4) % 7 === 0) add(ahead, 0);
      const isHome = from >> 4 === (this.side === 1 ? 1 : 6);
      if (!onlyCaptures && isHome && this.#at(ahead + forward) === 0) add(ahead + forward, 0);
    }
    for (const to of [ahead - 1, ahead + 1]) {
      if ((to & 0x88) !== 0) continue;
      if (this.#at(to) * this.side < 0) add(to, this.#at(to));
      else if (to === this.#enPassant) add(to, -PAWN * this.side, true);
    }
  }

  #castles(king: number, add: (from: number, to: number) => void): void {
    const rights = this.side === 1 ? [CASTLING.K, CASTLING.Q] : [CASTLING.k, CASTLING.q];
    const other = opposite(this.side);
    const isFree = (...steps: number[]) => steps.every((step) => this.#at(king + step) === 0);
    const isQuiet = (...steps: number[]) => steps.every((step) => !this.#isAttacked(king + step, other));
    if ((this.#castling & (rights[0] ?? 0)) !== 0 && isFree(1, 2) && isQuiet(0, 1)) add(king, king + 2);
    if ((this.#castling & (rights[1] ?? 0)) !== 0 && isFree(-1, -2, -3) && isQuiet(0, -1))
      add(king, king - 2);
  }
}

/** `e4` for the number of a square. */
export function squareName(square: number): string {
  return `${'abcdefgh'[square & 7]}${(square >> 4) + 1}`;
}

function squareNumber(name: string): number {
  return (name.charCodeAt(1) - 49) * 16 + name.charCodeAt(0) - 97;
}

const opposite = (side: 1 | -1): 1 | -1 => (side === 1 ? -1 : 1);
