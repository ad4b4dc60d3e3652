import { isStopWord, splitWords } from '../reader/words.ts';
import { documentText } from './document-text.ts';
import { asksForNumber, fitFormat } from './fit-format.ts';
import { figuresForWords, ORDINAL_PATTERN, ordinalFromWord } from './number-words.ts';
import type { Solution } from './solution.ts';
import type { Workings } from './workings.ts';

/** Runs the attached program, or calls what the question names in it, and reads what it prints. */
export async function solveProgram(question: string, file: string, workings: Workings): Promise<Solution> {
  const asked = expressionAsked(question);
  if (asked !== undefined) {
    const source = await workings.ask('read_file', { file });
    const code = source === undefined ? undefined : documentLines(source.text);
    if (code !== undefined && defines(code, asked)) return evaluateIn(question, code, asked, workings);
  }
  const reply = await workings.ask('execute_python_file', { file });
  if (reply === undefined) return workings.giveUp('program', 'What the program prints is needed.');
  return answerFromOutput(question, reply, workings);
}

/** A program whose text is at hand, as from an archive. */
export async function solveProgramText(
  question: string,
  code: string,
  workings: Workings,
): Promise<Solution> {
  const asked = expressionAsked(question);
  if (asked !== undefined && defines(code, asked)) return evaluateIn(question, code, asked, workings);
  const reply = await workings.ask('python_repl', { code });
  if (reply === undefined) return workings.giveUp('program', 'What the program prints is needed.');
  return answerFromOutput(question, reply, workings);
}

async function evaluateIn(
  question: string,
  code: string,
  asked: string,
  workings: Workings,
): Promise<Solution> {
  workings.say(`The question is about ${asked}, which the program defines.`);
  const mark = 'the value that is asked for:';
  const reply = await workings.ask('python_repl', {
    code: `${code}\nprint()\nprint(${JSON.stringify(mark)}, ${asked})\n`,
  });
  const at = reply?.text.lastIndexOf(mark) ?? -1;
  if (reply === undefined || at < 0) return workings.giveUp('program', `${asked} could not be evaluated.`);
  const value = reply.text.slice(at + mark.length).trim();
  return workings.answer('program', fitFormat(question, value), 0.9);
}

/** `hailstone(97)`, or `total` in "the value of the variable total". */
function expressionAsked(question: string): string | undefined {
  const call = /(?<![\w.])[A-Za-z_]\w*\((?:[^()]|\([^()]*\))*\)/.exec(question)?.[0];
  // "the function(s)" is a word, and a call without a value in it may be its name only.
  if (call !== undefined && !/^\w+\((?:s|es)\)$/.test(call)) return call;
  return /\b(?:value of|variable|stored in|does|is)\s+(?:the )?(?:variable )?[`'"]?([A-Za-z_]\w*)[`'"]?\s+(?:hold|holds|have|has|contain|contains|equal|at the end|after|when|once|in the end)\b/i.exec(
    question,
  )?.[1];
}

function defines(code: string, asked: string): boolean {
  const name = /^[A-Za-z_]\w*/.exec(asked)?.[0] ?? '';
  return new RegExp(
    `^\\s*(?:async\\s+)?(?:def|class)\\s+${name}\\b|^${name}\\s*(?::[^=\\n]+)?=(?!=)`,
    'm',
  ).test(code);
}

function documentLines(reply: string): string {
  return documentText(reply).lines.join('\n');
}

interface Output {
  readonly text: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

function answerFromOutput(question: string, { text, data }: Output, workings: Workings): Solution {
  const error = typeof data?.error === 'string' ? data.error : undefined;
  if (/\b(?:error|exception)\b/i.test(question) && error !== undefined) {
    const name = /^[\w.]+/.exec(error)?.[0] ?? error;
    return workings.answer(
      'program',
      /\bmessage\b/i.test(question) ? error.slice(name.length).replace(/^:\s*/, '') : name,
      0.8,
    );
  }
  if (error !== undefined) return workings.giveUp('program', `The program ended with ${error}.`);
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== '');
  const [only, second] = lines;
  if (only === undefined || data?.output_bytes === 0)
    return workings.giveUp('program', 'The program prints nothing.');
  workings.say(`The program prints ${lines.length} lines.`);
  return workings.answer(
    'program',
    fitFormat(question, picked(question, lines, second === undefined ? only : undefined)),
    0.8,
  );
}

/** Which part of the output is asked for. */
function picked(question: string, lines: readonly string[], only: string | undefined): string {
  if (/\bhow many lines\b/i.test(question)) return String(lines.length);
  const ordinal = new RegExp(
    `\\b(${ORDINAL_PATTERN})\\s+(?:printed\\s+)?(?:line|number|value|word|output)\\b|\\bline\\s+(?:number\\s+)?(\\d+)\\b`,
    'i',
  ).exec(question);
  const rank = ordinal === null ? undefined : (ordinalFromWord(ordinal[1] ?? '') ?? Number(ordinal[2]));
  if (rank !== undefined && /\bline\b/i.test(ordinal?.[0] ?? ''))
    return lines.at(rank > 0 ? rank - 1 : rank) ?? '';
  if (/\b(?:sum|total) of (?:all )?(?:the )?(?:printed |output )?(?:numbers|values)\b/i.test(question)) {
    return String(numbersIn(lines).reduce((sum, number) => sum + Number(number), 0));
  }
  const isLast = rank === undefined || rank === -1;
  if (!isLast && /\b(?:number|value)\b/i.test(ordinal?.[0] ?? ''))
    return numbersIn(lines).at(rank > 0 ? rank - 1 : rank) ?? '';
  const line = only ?? lineAbout(question, lines);
  if (line !== undefined) return valueIn(question, line);
  if (/\b(?:full|whole|entire|complete|everything)\b/i.test(question)) return lines.join('\n');
  if (asksForNumber(question) || /\bnumeric\b|\bnumber\b/i.test(question))
    return numbersIn(lines).at(-1) ?? lines.at(-1) ?? '';
  return lines.at(-1) ?? '';
}

const NUMBER = /(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w]|\.\d)/gi;

function numbersIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.match(NUMBER) ?? []);
}

/** The line that shares the most words with the question, if one does. */
function lineAbout(question: string, lines: readonly string[]): string | undefined {
  const asked = new Set(
    splitWords(figuresForWords(question))
      .filter(({ lower }) => !isStopWord(lower))
      .map(({ stem }) => stem),
  );
  const points = lines.map(
    (line) =>
      new Set(
        splitWords(line)
          .filter(({ stem }) => asked.has(stem))
          .map(({ stem }) => stem),
      ).size,
  );
  const most = Math.max(...points);
  // What every line shares says nothing; among equals there is none.
  const best = lines.filter((_, index) => points[index] === most);
  return most > 0 && best.length === 1 ? best[0] : undefined;
}

/** What stands behind the label of a line, or its number. */
function valueIn(question: string, line: string): string {
  const [, label = '', rest] = /^([^:=]{1,60})[:=]\s*(.+)$/.exec(line) ?? [];
  const value = rest ?? line;
  if (!asksForNumber(question) && !/\bnumeric\b/i.test(question)) return label === '' ? line : value;
  const numbers = value.match(NUMBER) ?? line.match(NUMBER);
  return numbers?.at(-1) ?? value;
}
