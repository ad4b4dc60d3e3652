import { createHash } from 'node:crypto';
import type { ChatRequest, ChatTurn, EngineWork, ToolCall } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { chunkDocument } from '@gaia-mesh/core/contracts/task.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { extractSentences } from '@gaia-mesh/reader/extract.ts';
import { listStems } from '@gaia-mesh/reader/language/words.ts';
import { parseQuestion } from '@gaia-mesh/reader/question.ts';
import { chooseMinChance, explainUnsure, MIN_CHANCE, rankAnswers } from '@gaia-mesh/reader/reason.ts';
import { searchPassages } from '@gaia-mesh/reader/search.ts';
import { countTokens } from '@gaia-mesh/reader/tokens.ts';
import { proposeTriples } from '@gaia-mesh/reader/triple.ts';
import { cleanAnswer, hasStatedAnswer } from '../../answers/clean-answer.ts';
import { answerTextTables, blankTables } from '../../tables/text-tables.ts';
import type { parseEmbeddedSettings } from '../engine-settings.ts';
import { type Call, type Inbound, type Matter, readConversation } from './open-files.ts';
import { findCalculation } from './worded-arithmetic.ts';

type EmbeddedSettings = ReturnType<typeof parseEmbeddedSettings>;

const MAX_MARK = 10;
/** Matches the end of a text that was cut: part of a table would lead to a wrong verdict. */
const CUT = /… \[cut: \d+ characters in all\]$/;

/**
 * Replies as a critic to its prompt's variables: reads the document itself, and rates an answer by its probability relative to the most
 * probable one. Undefined if it cannot judge: the work states no answer, or there is nothing to read.
 */
export function judgeAnswer(
  variables: Readonly<Record<string, string>>,
  settings: EmbeddedSettings,
): JsonObject | undefined {
  const { work = '', document = '' } = variables;
  const answer = hasStatedAnswer(work) ? cleanAnswer(work) : null;
  if (answer === null || CUT.test(document)) return undefined;
  const parts = ['question', 'file', 'document'].map((name) => {
    return { kind: 'peer' as const, name, text: variables[name] ?? '' };
  });
  const inbound = readConversation({ messages: [{ role: 'user', content: '', parts }] });
  const { matters } = inbound;
  if (matters.length === 0) return undefined;
  const { candidates } = findCandidates(matters, inbound, { ...settings, threshold: 0 });
  const own = candidates.find((one) => (cleanAnswer(one.answer) ?? one.answer) === answer);
  const most = candidates[0]?.chance ?? 0;
  if (own === undefined || most === 0) return undefined;
  const chance = own.chance / most;
  const weaknesses = chance < 1 ? ['the document gives another answer that is more probable'] : [];
  const quality = Math.round(10 * MAX_MARK * chance) / 10;
  return { quality, relevance: MAX_MARK, missing: [], weaknesses, suggestions: [] };
}

/** Factor for the chance of an answer that was rejected before. */
const DOUBTED_SHARE = 0.1;
/** Requests whose draws are counted; then counting begins anew. A batch asks one agent less often. */
const MAX_COUNTED = 50_000;

/** Draws replies: the same seed, role and texts to read give the same sequence of draws, in whatever words a prompt puts them. */
class Draws {
  readonly #seed: number;
  readonly #times = new Map<string, number>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Returns random numbers for the next reply. */
  next(inbound: Inbound, role: string): Random {
    const { question, files, document, found, concluded, doubted, results } = inbound;
    const read = [question, files, document, found, concluded, [...doubted], results.map(({ text }) => text)];
    const key = createHash('sha256')
      .update(JSON.stringify([this.#seed, role, read]))
      .digest('hex');
    if (this.#times.size >= MAX_COUNTED) this.#times.clear();
    const times = this.#times.get(key) ?? 0;
    this.#times.set(key, times + 1);
    const digest = createHash('sha256').update(`${key} ${times}`).digest();
    return new Random(digest.readUIntBE(0, 6));
  }
}

/** Lowers rejected answers, and drops those that are then too improbable. Most probable first. */
function withDoubts(
  candidates: readonly Candidate[],
  doubted: ReadonlySet<string>,
  threshold: number,
): Candidate[] {
  if (doubted.size === 0) return [...candidates];
  const isDoubted = ({ answer }: Candidate) => doubted.has(cleanAnswer(answer) ?? answer);
  return candidates
    .map((one) => (isDoubted(one) ? { ...one, chance: one.chance * DOUBTED_SHARE } : one))
    .filter((one) => !isDoubted(one) || one.chance >= threshold)
    .sort((a, b) => b.chance - a.chance);
}

/** Draws a candidate by the softmax of their scores over the temperature; at 0 the most probable. */
function drawCandidate(
  candidates: readonly Candidate[],
  temperature: number,
  random: Random,
): Candidate | undefined {
  const [best] = candidates;
  if (best === undefined || temperature === 0) return best;
  const weights = candidates.map(({ chance }) => (chance / best.chance) ** (1 / temperature));
  let left = random.uniform() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [at, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return candidates[at];
  }
  return best;
}

/** The prefix of an answer in a text that is passed on. */
const FINAL_ANSWER_PREFIX = 'FINAL ANSWER: ';

/**
 * Creates the embedded engine's part in a conversation, in place of a model. It calls the offered tools for files that it has not read
 * yet, and then gives one of its candidates, drawn by their probabilities. A rejected answer becomes less probable. Without a candidate
 * that is probable enough it refuses and gives the reason.
 */
export function createEmbeddedChat(settings: EmbeddedSettings) {
  const draws = new Draws(settings.seed);
  return (request: ChatRequest, work: EngineWork): ChatTurn => {
    const turn = takeTurn(request, work.role ?? '', settings, draws);
    const read = request.messages.reduce((sum, { content }) => sum + countTokens(content), 0);
    const calls = turn.toolCalls.length === 0 ? '' : JSON.stringify(turn.toolCalls);
    work.countTokens(read + countTokens(turn.content) + countTokens(calls));
    return turn;
  };
}

const TOOL = 'calculator';

/**
 * Finds a calculation in the question, if a calculator is offered: returns its call, and later its result. Undefined if there is no
 * calculation or no calculator. A number outside the calculation is a condition that it ignores, so there is no answer.
 */
function solveArithmetic({
  question,
  tools,
  results,
}: Inbound): { readonly call: Call } | Candidates | undefined {
  if (!tools.some(({ name }) => name === TOOL)) return undefined;
  const found = findCalculation(question);
  if (found === undefined) return undefined;
  const { expression, toAnswer, ignored } = found;
  if (ignored.length > 0)
    return { candidates: [], why: `its calculation ${expression} ignores ${ignored.join(', ')}` };
  const result = results.find(({ tool, argument }) => tool === TOOL && argument === expression);
  if (result === undefined) return { call: { tool: TOOL, argument: 'expression', value: expression } };
  const text = result.text.trim();
  if (text.startsWith('Error:')) return { candidates: [], why: text.slice('Error:'.length).trim() };
  return {
    candidates: [{ answer: toAnswer(text), chance: 1, evidence: `${expression} is ${text}` }],
    why: '',
  };
}

function takeTurn(request: ChatRequest, role: string, settings: EmbeddedSettings, draws: Draws): ChatTurn {
  const { temperature, threshold } = settings;
  const inbound = readConversation(request);
  const { matters, calls, lacking } = inbound;
  if (calls.length > 0) return buildCallTurn(calls, request);
  const known = inbound.found.map((text) => ({ form: 'text' as const, name: '', text }));
  const all = [...matters, ...known];
  const asked = all.length === 0 && lacking === undefined ? solveArithmetic(inbound) : undefined;
  if (asked !== undefined && 'call' in asked) return buildCallTurn([asked.call], request);
  const { candidates, why } =
    asked ?? (all.length === 0 ? collectStated(inbound) : findCandidates(all, inbound, settings));
  const open = withDoubts(candidates, inbound.doubted, threshold ?? MIN_CHANCE);
  const chosen = drawCandidate(open, temperature, draws.next(inbound, role));
  if (chosen === undefined) return buildRefusalTurn(all.length === 0 ? (lacking ?? why) : why);
  const content = inbound.asksForFacts ? formatReport(chosen) : formatReply(chosen);
  return { content, toolCalls: [], finish: 'stop', confidence: chosen.chance };
}

/** Returns the conclusion of others if there is nothing to read. */
function collectStated({ concluded }: Inbound): Candidates {
  if (concluded === undefined) return { candidates: [], why: 'there is no text to read' };
  return { candidates: [{ answer: '', chance: 1, evidence: concluded }], why: '' };
}

function formatReply({ answer, evidence }: Candidate): string {
  return (answer === '' ? evidence : `${evidence}\n\n${FINAL_ANSWER_PREFIX}${answer}`).toWellFormed();
}

/** Formats a candidate as a report of facts. */
function formatReport({ answer, evidence }: Candidate): string {
  return JSON.stringify({ facts: [{ fact: `${answer} (${evidence})`.toWellFormed(), source: 'the file' }] });
}

function buildCallTurn(calls: readonly Call[], { messages }: ChatRequest): ChatTurn {
  const toolCalls = calls.map(
    ({ tool, argument, value }, at): ToolCall => ({
      id: `call_${messages.length}_${at}`,
      name: tool,
      arguments: { [argument]: value },
    }),
  );
  const content = calls
    .map(
      ({ tool, argument, value }) => `${argument === 'file' ? 'opens' : 'works out'} ${value} with ${tool}`,
    )
    .join('; ');
  return { content, toolCalls, finish: 'tool_calls' };
}

function buildRefusalTurn(why: string): ChatTurn {
  const content = why.startsWith('Not sure')
    ? `${why}. The engine extractive reads texts and tables alone: a model, such as --engine ollama, may know more.`
    : `The engine extractive answers from texts and tables alone, and ${why}: this question takes a model, such as --engine ollama.`;
  return { content: content.toWellFormed(), toolCalls: [], finish: 'refused' };
}

/** A possible answer. */
interface Candidate {
  readonly answer: string;
  /** The probability that it is right, from 0 to 1. */
  readonly chance: number;
  /** Its source, in a sentence. */
  readonly evidence: string;
}

/** Candidates, the most probable first; if there are none, the reason. */
interface Candidates {
  readonly candidates: readonly Candidate[];
  /** Worded to follow "and", or a sentence. */
  readonly why: string;
}

const MAX_SHOWN = 8;

/** Finds candidates: a program's one-line output, else the tables' answers, else those of the texts. */
function findCandidates(
  matters: readonly Matter[],
  { question, separator }: Pick<Inbound, 'question' | 'separator'>,
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
