import { findAnchors, parseTableQuestion } from './anchors.ts';
import { Factors } from './features.ts';
import { listPrograms, type Program } from './programs.ts';
import type { Table } from './table.ts';

/** Programs in factors: the input of scoring and of training. */
export interface FactoredPrograms {
  /** Features of each factor. */
  readonly features: readonly Int32Array[];
  /** Factors of program `i`: `factors[starts[i]]` up to `factors[starts[i + 1]]`. */
  readonly factors: Int32Array;
  readonly starts: Int32Array;
}

/** All programs of a question with their factors. */
interface ProgramSpace extends FactoredPrograms {
  readonly programs: readonly Program[];
}

export function buildProgramSpace(question: string, table: Table, common: ReadonlySet<string>): ProgramSpace {
  const asked = parseTableQuestion(question);
  const anchors = findAnchors(asked, table, (stem) => common.has(stem));
  const programs = listPrograms(table, anchors);
  const all = new Factors(asked, table, anchors);
  const factors: number[] = [];
  const starts = new Int32Array(programs.length + 1);
  for (const [at, program] of programs.entries()) {
    factors.push(...all.of(program));
    starts[at + 1] = factors.length;
  }
  return { programs, features: all.features, factors: Int32Array.from(factors), starts };
}

/** Returns the probability of each program by a log-linear model over its features. */
export function computeProbabilities(
  { features, factors, starts }: FactoredPrograms,
  weights: Float32Array,
): Float64Array {
  const ofFactor = features.map((own) => own.reduce((sum, feature) => sum + (weights[feature] ?? 0), 0));
  const scores = new Float64Array(starts.length - 1);
  for (let at = 0; at < scores.length; at++) {
    for (let place = starts[at] ?? 0; place < (starts[at + 1] ?? 0); place++)
      scores[at] = (scores[at] ?? 0) + (ofFactor[factors[place] ?? 0] ?? 0);
  }
  const most = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const odds = scores.map((score) => Math.exp(score - most));
  const sum = odds.reduce((a, b) => a + b, 0);
  return odds.map((odd) => odd / sum);
}

/** Returns answers with the probability of all programs that give them, the most probable first. */
export function rankProgramAnswers(space: ProgramSpace, chances: Float64Array) {
  const answers = new Map<
    string,
    { answer: readonly string[]; program: Program; best: number; probability: number }
  >();
  for (const [at, program] of space.programs.entries()) {
    const chance = chances[at] ?? 0;
    const key = program.answer.join('\u0001');
    const known = answers.get(key);
    if (known === undefined) {
      answers.set(key, { answer: program.answer, program, best: chance, probability: chance });
      continue;
    }
    known.probability += chance;
    if (chance > known.best) [known.best, known.program] = [chance, program];
  }
  return [...answers.values()].sort((a, b) => b.probability - a.probability);
}
