import { computeWilson } from '../inference/confidence.ts';
import { computeStudentQuantile } from '../inference/student.ts';

/** The normal quantile of a two-sided 5 %. */
const Z = 1.959963984540054;

/**
 * Returns the 95 % interval of an accuracy over questions that were each tried several times. Attempts at one question resemble each other,
 * so they count as one value for the question, not as separate trials. It is Wilson's interval with the number of trials that would vary as
 * much as the questions do (E. Korn and B. Graubard, 1998, "Confidence intervals for proportions with small expected number of positive
 * counts estimated from survey data", Survey Methodology 24:2, including its correction by Student's t). That number lies between the
 * questions and the attempts.
 *
 * @param right correct attempts at each question
 * @param attempts attempts at each question
 * @param z standard deviations of another interval, which has no correction by Student's t
 */
export function computeClusteredInterval(
  right: readonly number[],
  attempts: number,
  z?: number,
): { readonly low: number; readonly high: number } {
  const questions = right.length;
  if (questions < 2 || attempts < 1) return { low: 0, high: 1 };
  const fractions = right.map((count) => count / attempts);
  const mean = fractions.reduce((sum, value) => sum + value, 0) / questions;
  const variance =
    fractions.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (questions - 1) / questions;
  const trials = variance === 0 ? questions : (mean * (1 - mean)) / variance;
  const corrected =
    z === undefined ? trials * (Z / computeStudentQuantile(0.025, questions - 1)) ** 2 : trials;
  const bounded = Math.min(Math.max(corrected, 1), questions * attempts);
  return computeWilson(Math.min(mean * bounded, bounded), bounded, z ?? Z);
}
