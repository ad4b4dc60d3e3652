import { readArithmetic } from './calculation/arithmetic.ts';
import { readBases } from './calculation/bases.ts';
import { readCalendar } from './calculation/calendar.ts';
import { readConversion } from './calculation/conversion.ts';
import { readGeometry } from './calculation/geometry.ts';
import { readIntegers } from './calculation/integers.ts';
import { readPercentage } from './calculation/percentage.ts';
import { readUnitRate } from './calculation/unit-rate.ts';
import { fitFormat } from './fit-format.ts';
import { withoutInstructions } from './instructions.ts';
import { figuresForWords } from './number-words.ts';
import { plainNumber } from './rounding.ts';
import type { Reading, Solution } from './solution.ts';
import type { Workings } from './workings.ts';

/** A longer text is no calculation; it bounds what the patterns work on. */
const MAX_CHARACTERS = 1_500;

/** From the most particular to the most general: each takes a question only where it understands all of its numbers. */
const READERS: readonly ((text: string) => Reading | undefined)[] = [
  readCalendar,
  readBases,
  readIntegers,
  readPercentage,
  readGeometry,
  readConversion,
  readUnitRate,
  readArithmetic,
];

/** How the question is to be calculated; undefined where no rule understands it whole. */
export function readCalculation(question: string): Reading | undefined {
  if (question.length > MAX_CHARACTERS) return undefined;
  const text = figuresForWords(withoutInstructions(question.replace(/\s+/g, ' ').trim()));
  if (!/\d|\b(?:an?|one|roman|hexadecimal|hex)\b/i.test(text)) return undefined;
  for (const read of READERS) {
    const reading = read(text);
    if (reading !== undefined) return reading;
  }
  return undefined;
}

/** Asks the tool that the reading needs, and brings its result into the form that is asked for. */
export async function calculate(question: string, reading: Reading, workings: Workings): Promise<Solution> {
  workings.say(reading.why);
  const result = await resultOf(reading, workings);
  if (result === undefined) return workings.giveUp('calculation', 'Without its result there is no answer.');
  return workings.answer('calculation', fitFormat(question, result));
}

async function resultOf(reading: Reading, workings: Workings): Promise<string | undefined> {
  if ('done' in reading) return reading.done;
  if ('code' in reading) {
    const reply = await workings.ask('python_repl', { code: reading.code });
    return reply && reply.data?.status !== 'error' ? lastLine(reply.text) : undefined;
  }
  const reply = await workings.ask('calculator', { expression: reading.expression });
  const value = reply?.data?.value;
  if (typeof value === 'number') return plainNumber(value);
  return typeof value === 'string' ? value : undefined;
}

function lastLine(text: string): string | undefined {
  return text.trimEnd().split(/\r?\n/).at(-1)?.trim();
}
