import { squadEm, squadF1 } from '../../core/evaluation/squad.ts';

/** Exact match and F1 of a prediction against the accepted answer it fits best. */
export function squadScore(prediction: string, truths: readonly string[]): { exact: number; f1: number } {
  return {
    exact: Math.max(0, ...truths.map((truth) => squadEm(prediction, truth))),
    f1: Math.max(0, ...truths.map((truth) => squadF1(prediction, truth))),
  };
}
