import * as z from 'zod';
import { extensionOf, readerFor } from '../files/readers.ts';
import { isStopWord, splitWords } from '../reader/words.ts';
import { answerFromDocument } from './document.ts';
import { documentText } from './document-text.ts';
import { solveJson } from './json.ts';
import { solveProgramText } from './program.ts';
import type { Solution } from './solution.ts';
import { answerFromSheets } from './table.ts';
import type { Workings } from './workings.ts';

const listing = z.object({ entries: z.array(z.object({ name: z.string() })) });

/** Archives hold one file that matters, mostly, and some beside it. */
const MAX_MEMBERS = 3;

/** Lists the archive, then goes on with the member that the question is most likely about. */
export async function solveArchive(question: string, file: string, workings: Workings): Promise<Solution> {
  const reply = await workings.ask('read_zip', { file });
  const entries = listing.safeParse(reply?.data);
  if (!entries.success) return workings.giveUp('document', `What is in ${file} is needed.`);
  const names = entries.data.entries.map(({ name }) => name);
  if (
    /\bhow many (?:files|documents|entries|members)\b/i.test(question) &&
    !/\b(?:lines|rows|words)\b/i.test(question)
  ) {
    const kind = /\bhow many (?:\w+ )?\.?(\w+) files\b/i.exec(question)?.[1]?.toLowerCase();
    const counted = kind === undefined ? names : names.filter((name) => extensionOf(name) === kind);
    return workings.answer('document', String((counted.length > 0 ? counted : names).length), 0.8);
  }
  let last: Solution | undefined;
  for (const name of byLikelihood(question, names).slice(0, MAX_MEMBERS)) {
    workings.say(`The archive's member ${name} is read.`);
    const member = await solveMember(question, file, name, workings);
    if (member?.answer != null) return member;
    last = member ?? last;
  }
  return last ?? workings.giveUp('unknown', `No file in ${file} could be read.`);
}

async function solveMember(
  question: string,
  file: string,
  name: string,
  workings: Workings,
): Promise<Solution | undefined> {
  const reply = await workings.ask('read_zip', { file, entry: name });
  if (reply === undefined) return undefined;
  switch (readerFor(name)) {
    case 'read_excel':
      return answerFromSheets(question, reply.data, workings);
    case 'analyze_image':
    case 'understand_audio':
    case 'read_zip':
      return undefined;
    default: {
      const document = documentText(reply.text);
      if (extensionOf(name) === 'py') return solveProgramText(question, document.lines.join('\n'), workings);
      if (/^jsonl?$/.test(extensionOf(name))) return solveJson(question, document.lines.join('\n'), workings);
      return answerFromDocument(question, document, workings);
    }
  }
}

/** What the question names comes first, then data and documents, then what only says what the others are. */
function byLikelihood(question: string, names: readonly string[]): string[] {
  const asked = new Set(
    splitWords(question)
      .filter(({ lower }) => !isStopWord(lower))
      .map(({ stem }) => stem),
  );
  const points = (name: string) => {
    if (/(?:^|\/)(?:__macosx|\.)/i.test(name)) return -10;
    const shared = splitWords(name.replace(/[_./-]/g, ' ')).filter(({ stem }) => asked.has(stem)).length;
    const isAside = /(?:^|\/)(?:readme|licen[cs]e|notes?|about|changelog)\b/i.test(name) ? 2 : 0;
    return (
      shared +
      (readerFor(name) === undefined ? -1 : 0) +
      (readerFor(name) === 'read_excel' ? 0.5 : 0) -
      isAside
    );
  };
  return names.filter((name) => points(name) > -10).toSorted((a, b) => points(b) - points(a));
}
