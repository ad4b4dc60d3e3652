import type { Candidates } from './candidates.ts';
import type { InboundConversation } from './conversation.ts';
import type { Call } from './open-files.ts';

const TOOL = 'calculator';
const NUMBER = String.raw`\(*\d[\d,]*(?:\.\d+)?%?\)*`;
/** Numbers with signs of operations between them, the longest there is. */
const EXPRESSION = new RegExp(`-?${NUMBER}(?:\\s*[-+*/^×÷]\\s*${NUMBER})+`, 'g');

/**
 * A calculation that stands in the question, for whoever has a calculator: the call, and after it what it gave. Undefined where there is
 * none, or no calculator. A number of the question that is no part of it is a condition that it knows nothing of.
 */
export function solveArithmetic({
  question,
  tools,
  results,
}: InboundConversation): { readonly call: Call } | Candidates | undefined {
  const written = [...question.matchAll(EXPRESSION)]
    .map(([text]) => text)
    .sort((a, b) => b.length - a.length)[0];
  if (written === undefined || !tools.some(({ name }) => name === TOOL)) return undefined;
  const unused = question.replace(written, ' ').match(/\d[\d.,]*\d|\d/g) ?? [];
  if (unused.length > 0)
    return { candidates: [], why: `its calculation ${written} knows nothing of ${unused.join(', ')}` };
  const expression = written.replaceAll('×', '*').replaceAll('÷', '/');
  const result = results.find(({ tool, argument }) => tool === TOOL && argument === expression);
  if (result === undefined) return { call: { tool: TOOL, argument: 'expression', value: expression } };
  const answer = result.text.trim();
  if (answer.startsWith('Error:')) return { candidates: [], why: answer.slice('Error:'.length).trim() };
  return { candidates: [{ answer, chance: 1, evidence: `${expression} is ${answer}` }], why: '' };
}
