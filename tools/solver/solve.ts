import { extensionOf, readerFor } from '../files/readers.ts';
import { solveArchive } from './archive.ts';
import { calculate, readCalculation } from './calculation.ts';
import { findPosition, solveChess } from './chess.ts';
import { answerFromDocument, solveDocument } from './document.ts';
import { documentText, givenText } from './document-text.ts';
import { fitFormat } from './fit-format.ts';
import { solveImage } from './image.ts';
import { solveJson } from './json.ts';
import { solveProgram } from './program.ts';
import type { Problem, Solution, UseTool } from './solution.ts';
import { solveTable } from './table.ts';
import { readPuzzle } from './text-puzzle.ts';
import { Workings } from './workings.ts';

/** GAIA's longest question has some 3,000; a document belongs into a file, or into `context`. */
const MAX_QUESTION_CHARACTERS = 8_000;

/** A riddle may hide a riddle; nobody nests them deeper. */
const MAX_HIDDEN = 3;

/**
 * Answers a question by rules, without a model: an attached file is read and calculated with, a calculation is handed to the
 * calculator, a puzzle about letters is worked out, a document is read by the embedded reader. The same question takes the same steps.
 *
 * What it cannot do it says: the answer is then null, and `reasoning` names what is missing.
 */
export async function solve({ question, file, context }: Problem, use: UseTool): Promise<Solution> {
  const workings = new Workings(use);
  if (question.length > MAX_QUESTION_CHARACTERS) {
    return workings.giveUp(
      'unknown',
      `The question has ${question.length} characters: rules are for up to ${MAX_QUESTION_CHARACTERS}.`,
    );
  }
  if (file !== undefined && file !== '') return solveFile(question, file, workings);
  return solveText(question, context, workings, MAX_HIDDEN);
}

async function solveFile(question: string, file: string, workings: Workings): Promise<Solution> {
  const reader = readerFor(file);
  workings.say(
    reader === undefined ? `${file} is attached.` : `${file} is attached, which ${reader} is for.`,
  );
  switch (reader) {
    case 'read_excel':
      return solveTable(question, file, workings);
    case 'read_pdf':
    case 'read_docx':
    case 'read_pptx':
      return solveDocument(question, file, reader, workings);
    case 'read_zip':
      return solveArchive(question, file, workings);
    case 'analyze_image':
      return solveImage(question, file, workings);
    case 'understand_audio':
      return workings.giveUp('unknown', 'A recording has to be heard: that takes a model.');
    case 'read_file':
      return solveTextFile(question, file, workings);
    case undefined:
      return workings.giveUp('unknown', `No tool is known for files like ${file}.`);
  }
}

async function solveTextFile(question: string, file: string, workings: Workings): Promise<Solution> {
  const extension = extensionOf(file);
  if (extension === 'py') return solveProgram(question, file, workings);
  if (!/^(?:json|jsonl|ndjson|jsonld)$/.test(extension))
    return solveDocument(question, file, 'read_file', workings);
  const reply = await workings.ask('read_file', { file });
  if (reply === undefined) return workings.giveUp('table', `${file} is needed.`);
  return solveJson(question, documentText(reply.text).lines.join('\n'), workings);
}

async function solveText(
  question: string,
  context: string | undefined,
  workings: Workings,
  hidden: number,
): Promise<Solution> {
  const position = findPosition(question);
  if (position !== undefined) return solveChess(question, position, workings);
  const puzzle = readPuzzle(question);
  if (puzzle !== undefined) {
    workings.say(puzzle.why);
    if ('answer' in puzzle) return workings.answer('text-puzzle', fitFormat(question, puzzle.answer), 0.8);
    if (hidden > 0) return solveText(puzzle.question, context, workings, hidden - 1);
  }
  if (context !== undefined && context.trim() !== '')
    return answerFromDocument(question, givenText(context), workings);
  const reading = readCalculation(question);
  if (reading !== undefined) return calculate(question, reading, workings);
  return workings.giveUp(
    'unknown',
    'No rule understands the question: it takes a model, or a search of the web.',
  );
}
