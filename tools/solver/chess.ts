import { fitFormat } from './fit-format.ts';
import type { Solution } from './solution.ts';
import type { Workings } from './workings.ts';

const PLACEMENT = /(?<![\w/])(?:[pnbrqkPNBRQK1-8]{1,8}\/){7}[pnbrqkPNBRQK1-8]{1,8}(?![\w/])/;
const REST = /^\s+([wb])(?:\s+(-|[KQkq]{1,4}))?(?:\s+(-|[a-h][36]))?(?:\s+(\d{1,3}))?(?:\s+(\d{1,4}))?/;

/** The position in a text, in Forsyth-Edwards notation; who moves may be said in words. */
export function findPosition(text: string): string | undefined {
  const match = PLACEMENT.exec(text);
  if (match === null) return undefined;
  const [placement] = match;
  const rest = REST.exec(text.slice(match.index + placement.length));
  if (rest !== null)
    return `${placement} ${rest[1]} ${rest[2] ?? '-'} ${rest[3] ?? '-'} ${rest[4] ?? 0} ${rest[5] ?? 1}`;
  const isBlack =
    /\bblack(?:'s|’s)?\s+(?:is |has |side )?(?:to (?:move|play)|turn|moves|plays)\b|\bit(?:'s| is)\s+black(?:'s|’s)?\b/i.test(
      text,
    );
  return `${placement} ${isBlack ? 'b' : 'w'} - - 0 1`;
}

/** Counts on the board need no tool; moves and states come from the analysis. */
export async function solveChess(question: string, position: string, workings: Workings): Promise<Solution> {
  const count = piecesAsked(question, position);
  if (count !== undefined) {
    workings.say(`They are counted in the position ${position}.`);
    return workings.answer('chess', String(count), 0.9);
  }
  const reply = await workings.ask('analyze_chess', { fen: position });
  if (reply === undefined) return workings.giveUp('chess', 'The analysis of the position is needed.');
  const data = reply.data ?? {};
  if (/\bhow many\b[^?.]*\bmoves?\b/i.test(question)) {
    const moves = /\bmate|\bin how many\b/i.test(question)
      ? data.mate_in
      : Array.isArray(data.legal_moves)
        ? data.legal_moves.length
        : undefined;
    return typeof moves === 'number'
      ? workings.answer('chess', String(moves), 0.8)
      : workings.giveUp('chess', 'The search does not see a mate.');
  }
  const state = stateAsked(question, data);
  if (state !== undefined) return workings.answer('chess', state ? 'Yes' : 'No', 0.9);
  if (
    /\bwhose (?:turn|move)\b|\bwho (?:is to|has to|must) move\b/i.test(question) &&
    typeof data.turn === 'string'
  ) {
    return workings.answer('chess', data.turn === 'white' ? 'White' : 'Black', 0.9);
  }
  const move = data.best_move;
  if (typeof move !== 'string') return workings.giveUp('chess', 'There is no move in the position.');
  workings.say(
    typeof data.mate_in === 'number'
      ? `${move} leads to mate in ${data.mate_in}.`
      : `${move} is best as far as the search looks.`,
  );
  return workings.answer('chess', fitFormat(question, move), typeof data.mate_in === 'number' ? 0.9 : 0.3);
}

function stateAsked(question: string, data: Readonly<Record<string, unknown>>): boolean | undefined {
  const isQuestion =
    /\b(?:is|are|does|has)\b[^.?]*\b(?:check|checkmate|checkmated|stalemate|stalemated|mated)\b/i.test(
      question,
    );
  if (!isQuestion) return undefined;
  const member = /\bstalemate/i.test(question)
    ? data.is_stalemate
    : /\b(?:checkmate|mate)/i.test(question)
      ? data.is_checkmate
      : data.is_check;
  return typeof member === 'boolean' ? member : undefined;
}

const PIECES: readonly (readonly [RegExp, string])[] = [
  [/\bpawns?\b/i, 'p'],
  [/\bknights?\b/i, 'n'],
  [/\bbishops?\b/i, 'b'],
  [/\brooks?\b/i, 'r'],
  [/\bqueens?\b/i, 'q'],
  [/\bpieces?\b|\bmen\b/i, 'pnbrqk'],
];

function piecesAsked(question: string, position: string): number | undefined {
  const asked = /\bhow many\b(.*)/is.exec(question)?.[1];
  if (asked === undefined || /\bmoves?\b/i.test(asked)) return undefined;
  const letters = PIECES.filter(([pattern]) => pattern.test(asked))
    .map(([, letter]) => letter)
    .join('');
  if (letters === '') return undefined;
  const isBoth = /\bboth\b|\ball\b|\baltogether\b|\bin total\b/i.test(asked);
  const only = isBoth
    ? undefined
    : /\bwhite\b/i.test(asked)
      ? 'white'
      : /\bblack\b/i.test(asked)
        ? 'black'
        : undefined;
  const wanted =
    only === 'white' ? letters.toUpperCase() : only === 'black' ? letters : letters + letters.toUpperCase();
  return [...(position.split(' ')[0] ?? '')].filter((sign) => /[a-z]/i.test(sign) && wanted.includes(sign))
    .length;
}
