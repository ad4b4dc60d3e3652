import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';

/** The fields of a record that the ranking needs. */
interface Rankable {
  readonly id: number;
  readonly question_type: string;
  /** The tool that failed in the attempt; empty if none did. */
  readonly tool: string;
  /** Result of {@link listTerms} for its text, joined by spaces. */
  readonly terms: string;
}

/** Constants of BM25 (S. Robertson and H. Zaragoza 2009, "The Probabilistic Relevance Framework", section 3.4). */
const K1 = 1.2;
const B = 0.75;

/** Score of a failure at a tool that the question will need, relative to the type and the words. */
const TOOL_WEIGHT = 0.5;

/**
 * Ranks records by relevance (OV-16): the type of the question scores 1, a failure at a tool that it will need a half, and the
 * similarity of the words BM25 as a share of the best candidate's. On equal scores the type decides, then the newer record. The
 * databases only propose candidates, because their own rankings differ and the same pool must give the same brief in every
 * database.
 */
export function rankGapRecords<Candidate extends Rankable>(
  candidates: readonly Candidate[],
  question: {
    readonly questionType: string;
    readonly tools: readonly string[];
    readonly terms: readonly string[];
  },
): Candidate[] {
  const documents = candidates.map((candidate) => new Set(candidate.terms.split(' ')));
  const meanLength = documents.reduce((sum, { size }) => sum + size, 0) / documents.length;
  const weights = new Map(question.terms.map((term) => [term, computeRarity(term, documents)] as const));
  const similarities = documents.map((document) => {
    let sum = 0;
    for (const [term, weight] of weights) if (document.has(term)) sum += weight;
    // Words are counted once, so the frequency in BM25's formula is 1.
    return (sum * (K1 + 1)) / (1 + K1 * (1 - B + (B * document.size) / meanLength));
  });
  const best = Math.max(...similarities, Number.MIN_VALUE);
  return candidates
    .map((candidate, index) => {
      const ofType = candidate.question_type === question.questionType ? 1 : 0;
      const atTool = question.tools.includes(candidate.tool) ? TOOL_WEIGHT : 0;
      return { candidate, ofType, score: ofType + atTool + (similarities[index] ?? 0) / best };
    })
    .sort((a, b) => b.score - a.score || b.ofType - a.ofType || b.candidate.id - a.candidate.id)
    .map(({ candidate }) => candidate);
}

/** Computes the inverse document frequency, in the form that is never negative. */
function computeRarity(term: string, documents: readonly ReadonlySet<string>[]): number {
  const having = documents.filter((document) => document.has(term)).length;
  return Math.log(1 + (documents.length - having + 0.5) / (having + 0.5));
}

// Words that any question or record may have. A word missing from this list only costs precision.
const STOP_WORDS = new Set(
  (
    'a about after all also an and any are as at be been before but by can could did do does each for from given had has have ' +
    'how if in into is it its just may me more most must my no not of on only or other our out over please should so some ' +
    'such than that the their them then there these they this those to under up use using was we were what when where which ' +
    'while who whom whose why will with within would you your question answer'
  ).split(' '),
);

/**
 * Returns the distinct words by which a text is found, in order and without accents, case and plural endings. They are cut here
 * rather than by the databases, so that both index the same. A word consists of letters and digits alone, which neither database
 * cuts further.
 */
export function listTerms(text: string, limit: number = STORE_LIMITS.indexedTerms): string[] {
  const terms = new Set<string>();
  for (const [word] of text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    if (terms.size === limit) break;
    if (!STOP_WORDS.has(word) && word.length > 1)
      terms.add(toSingular(word).slice(0, STORE_LIMITS.termCharacters));
  }
  return [...terms];
}

/**
 * Reduces a word to its singular by the S stemmer, which joins plurals and little else (D. Harman 1991, "How effective is
 * suffixing?", JASIS 42:1).
 */
function toSingular(word: string): string {
  if (word.length <= 3) return word;
  if (/[^ea]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/[^aeo]es$/.test(word) || /[^us]s$/.test(word)) return word.slice(0, -1);
  return word;
}
