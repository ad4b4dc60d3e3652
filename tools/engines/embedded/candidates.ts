import { chunkDocument } from '@gaia-mesh/core/contracts/task.ts';
import { extractSentences } from '@gaia-mesh/reader/extract.ts';
import { listStems } from '@gaia-mesh/reader/language/words.ts';
import { parseQuestion } from '@gaia-mesh/reader/question.ts';
import { chooseMinChance, explainUnsure, rankAnswers } from '@gaia-mesh/reader/reason.ts';
import { searchPassages } from '@gaia-mesh/reader/search.ts';
import { proposeTriples } from '@gaia-mesh/reader/triple.ts';
import { answerTextTables, blankTables } from '../../tables/text-tables.ts';
import type { InboundConversation } from './conversation.ts';
import type { Matter } from './open-files.ts';
import type { EmbeddedSettings } from './settings.ts';

/** A possible answer. */
export interface Candidate {
  readonly answer: string;
  /** The probability that it is right, from 0 to 1. */
  readonly chance: number;
  /** Its source, in a sentence. */
  readonly evidence: string;
}

/** Candidates, the most probable first; if there are none, the reason. */
export interface Candidates {
  readonly candidates: readonly Candidate[];
  /** Worded to follow "and", or a sentence. */
  readonly why: string;
}

const MAX_SHOWN = 8;

/** Finds candidates: a program's one-line output, else the tables' answers, else those of the texts. */
export function findCandidates(
  matters: readonly Matter[],
  { question, separator }: Pick<InboundConversation, 'question' | 'separator'>,
  settings: Pick<EmbeddedSettings, 'threshold' | 'weights'>,
): Candidates {
  const [first] = matters;
  if (matters.length === 1 && first?.form === 'printed' && first.text !== '' && !first.text.includes('\n'))
    return readPrintedAnswer(question, first);
  const looked = matters.filter(({ form }) => form === 'printed').flatMap((one) => lookUpKey(question, one));
  if (looked.length > 0) return rankCandidates([{ candidates: looked, why: '' }]);
  const prose = matters
    .filter(({ form }) => form !== 'table')
    .map(({ text }) => blankTables(text))
    .filter((text) => text.trim() !== '');
  const tables = matters.map(({ text }) =>
    fromTables(question, separator, text, { ...settings, beside: prose }),
  );
  const texts = prose.length === 0 ? [] : [fromText(question, prose.join('\n\n'), settings.threshold)];
  return rankCandidates([...tables, ...texts]);
}

/** Joins candidates of several sources; if there are none, the last source says why. */
function rankCandidates(all: readonly Candidates[]): Candidates {
  const candidates = all.flatMap((one) => one.candidates).sort((a, b) => b.chance - a.chance);
  return { candidates, why: all.findLast(({ why }) => why !== '')?.why ?? 'there is no text to read' };
}

/** Returns a program's output. It ran without the question: a number in the question that is not in its output is a condition it ignored. */
function readPrintedAnswer(question: string, { name, text }: Matter): Candidates {
  const numbers = (of: string): readonly string[] => of.match(/\d+(?:[.,]\d+)*/g) ?? [];
  const unused = numbers(question.replaceAll(name, '')).filter((number) => !numbers(text).includes(number));
  if (unused.length > 0)
    return { candidates: [], why: `${name} was run unchanged and ignores ${unused.join(', ')}` };
  return { candidates: [{ answer: text, chance: 1, evidence: `${name} prints: “${text}”` }], why: '' };
}

/** Matches a line of output that names its value, up to where a sentence would be. */
const KEYED = /^\s*([^:=]{1,60}?)\s*[:=]\s*(\S.*)$/;
/** Chance of a value whose name the question has; it may be that of another part of the output. */
const LOOKED_UP_CHANCE = 0.9;

/** Looks up the value whose name is in the question, in output most of whose lines are names with values. */
function lookUpKey(question: string, { name, text }: Matter): Candidate[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const entries = lines.flatMap((line) => {
    const [, key = '', value = ''] = KEYED.exec(line) ?? [];
    return key === '' ? [] : [{ stems: [...listStems(key)], value: value.trim(), line: line.trim() }];
  });
  if (entries.length < 2 || 2 * entries.length < lines.length) return [];
  const asked = listStems(question.replaceAll(name, ''));
  const named = entries
    .filter(({ stems }) => stems.length > 0 && stems.every((stem) => asked.has(stem)))
    .sort((a, b) => b.stems.length - a.stems.length);
  const [best, second] = named;
  // Two names of equal length in one question: which of them is asked for is not clear.
  if (best === undefined || best.stems.length === second?.stems.length) return [];
  // A count is asked for without its unit, which stands in the question.
  const isCount = parseQuestion(question).kind === 'count';
  const answer = (isCount ? /\d[\d.,]*/.exec(best.value)?.[0] : undefined) ?? best.value;
  return [{ answer, chance: LOOKED_UP_CHANCE, evidence: `${name} prints: “${best.line}”` }];
}

/** Answers by the tables in a text; a text without tables gives no reason. */
function fromTables(
  question: string,
  separator: string,
  text: string,
  options: Parameters<typeof answerTextTables>[2],
): Candidates {
  const { given, surest, isUnsure } = answerTextTables(question, text, options);
  const candidates = given.map(({ items, chance, program }) => ({
    answer: items.join(separator),
    chance,
    evidence: `The table gives it by ${program}; probability ${Math.round(100 * chance)} %`,
  }));
  if (surest === undefined) return { candidates, why: '' };
  if (isUnsure) return { candidates, why: 'no program over the table is sure enough to answer the question' };
  const { conditions, words } = surest.unplaced;
  const shown = [...conditions, ...words].slice(0, MAX_SHOWN).join('”, “');
  return { candidates, why: `its programs over tables cannot use “${shown}”` };
}

/** Runs the four steps of the embedded reader. */
function fromText(question: string, text: string, threshold?: number): Candidates {
  const sentences = extractSentences(question, searchPassages(question, chunkDocument(text)));
  const answers = rankAnswers(question, proposeTriples(question, sentences));
  const least = threshold ?? chooseMinChance(sentences);
  const [surest] = answers;
  const why = surest === undefined ? 'there is no text to read' : explainUnsure(question, surest);
  const candidates = answers
    .filter(({ confidence }) => confidence >= least)
    .map(({ answer, confidence, evidence }) => {
      return { answer, chance: confidence, evidence: `The text says: “${evidence}”` };
    });
  return { candidates, why };
}
