import type { Reading } from '../solution.ts';

/** A formula, and the measures that it needs. */
interface Formula {
  readonly asked: RegExp;
  readonly shape: RegExp;
  readonly needs: readonly Measure[];
  readonly expression: string;
}

type Measure = 'radius' | 'height' | 'width' | 'length' | 'side' | 'base';

const AREA = /\barea\b|\bsquare (?:met|cent|kilo|mill|inch|feet|foot|yard|mile)/i;
const VOLUME = /\bvolume\b|\bcubic\b|\bhow much (?:water|sand|air|space)\b|\bcapacity\b/i;
const EDGE = /\bperimeter\b|\bfence\b|\ball (?:the way )?(?:a)?round\b/i;
const ROUND = /\b(?:circle|circular|round|disc|disk|radius|diameter)\b/i;

/** The first that fits counts, so what says more about the shape comes first. */
const FORMULAS: readonly Formula[] = [
  {
    asked: /\bcircumference\b|\ball (?:the way )?(?:a)?round\b|\bperimeter\b/i,
    shape: ROUND,
    needs: ['radius'],
    expression: '2 * pi * radius',
  },
  {
    asked: /\bsurface area\b/i,
    shape: /\b(?:sphere|ball|globe)\b/i,
    needs: ['radius'],
    expression: '4 * pi * radius^2',
  },
  {
    asked: VOLUME,
    shape: /\b(?:sphere|spherical|ball|globe)\b/i,
    needs: ['radius'],
    expression: '4 / 3 * pi * radius^3',
  },
  {
    asked: VOLUME,
    shape: /\b(?:cone|conical)\b/i,
    needs: ['radius', 'height'],
    expression: 'pi * radius^2 * height / 3',
  },
  {
    asked: VOLUME,
    shape: /\b(?:cylinder|cylindrical|round)\b/i,
    needs: ['radius', 'height'],
    expression: 'pi * radius^2 * height',
  },
  { asked: VOLUME, shape: /\bcube\b/i, needs: ['side'], expression: 'side^3' },
  { asked: /\bsurface area\b/i, shape: /\bcube\b/i, needs: ['side'], expression: '6 * side^2' },
  {
    asked: VOLUME,
    shape: /\b(?:box|cuboid|room|tank|prism|pool|crate|container)\b/i,
    needs: ['length', 'width', 'height'],
    expression: 'length * width * height',
  },
  {
    asked: /\bhypotenuse\b|\blongest side\b/i,
    shape: /\btriangle\b/i,
    needs: ['length', 'width'],
    expression: 'sqrt(length^2 + width^2)',
  },
  {
    asked: /\bdiagonal\b/i,
    shape: /\b(?:rectang\w+|square|screen|field|room)\b/i,
    needs: ['length', 'width'],
    expression: 'sqrt(length^2 + width^2)',
  },
  { asked: AREA, shape: /\btriang\w+\b/i, needs: ['base', 'height'], expression: 'base * height / 2' },
  { asked: AREA, shape: ROUND, needs: ['radius'], expression: 'pi * radius^2' },
  {
    asked: EDGE,
    shape: /\bsquare\b(?! (?:met|cent|kilo|feet|foot|inch|yard))/i,
    needs: ['side'],
    expression: '4 * side',
  },
  {
    asked: AREA,
    shape: /\bsquare\b(?! (?:met|cent|kilo|feet|foot|inch|yard))/i,
    needs: ['side'],
    expression: 'side^2',
  },
  { asked: EDGE, shape: /./, needs: ['length', 'width'], expression: '2 * (length + width)' },
  { asked: AREA, shape: /./, needs: ['length', 'width'], expression: 'length * width' },
];

const NUMBER = String.raw`(\d[\d,]*(?:\.\d+)?)`;
const UNIT = String.raw`(?:\s*-?\s*[a-z]+)?`;

/** Area, circumference, volume … of a shape whose measures the question names. @param text with its numbers in figures */
export function readGeometry(text: string): Reading | undefined {
  const formula = FORMULAS.find(({ asked, shape }) => asked.test(text) && shape.test(text));
  if (formula === undefined || unitsOf(text).size > 1) return undefined;
  const measures = measuresIn(text);
  const used = formula.needs.map((name) => [name, measures.get(name)] as const);
  if (used.some(([, value]) => value === undefined)) return undefined;
  // Every number of the question has its place, or something was not understood.
  const numbers = [...text.matchAll(/(?<![\w.])\d[\d,]*(?:\.\d+)?/g)];
  if (numbers.length !== formula.needs.length) return undefined;
  const expression = used.reduce(
    (filled, [name, value]) => filled.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), `${value}`),
    formula.expression,
  );
  return { why: `The formula is ${formula.expression}.`, expression };
}

function measuresIn(text: string): Map<Measure, string> {
  const found = new Map<Measure, string>();
  const read = (pattern: string): string | undefined =>
    new RegExp(pattern, 'i')
      .exec(text)
      ?.slice(1)
      .find((group) => group !== undefined)
      ?.replaceAll(',', '');
  const named = (names: string, adjectives: string) =>
    read(`\\b(?:${names})\\b[^\\d.?]{0,24}?${NUMBER}`) ??
    read(`${NUMBER}${UNIT}\\s+(?:in |of )?(?:${names}|${adjectives})\\b`);
  const put = (measure: Measure, value: string | undefined) =>
    value !== undefined && found.set(measure, value);
  const diameter = named('diameter', 'across');
  put('radius', named('radius', 'radius') ?? (diameter && `(${diameter} / 2)`));
  put('height', named('height|depth', 'tall|high|deep'));
  put('width', named('width|breadth', 'wide|broad'));
  put('length', named('length', 'long'));
  put('side', named('sides?|edges?', 'sides?'));
  put('base', named('base', 'base'));
  const by = new RegExp(
    `${NUMBER}${UNIT}\\s*(?:by|x|×)\\s*${NUMBER}${UNIT}(?:\\s*(?:by|x|×)\\s*${NUMBER})?`,
    'i',
  ).exec(text);
  const legs = new RegExp(
    `\\b(?:legs|sides|catheti)\\b[^\\d]{0,30}?${NUMBER}${UNIT}\\s+and\\s+${NUMBER}`,
    'i',
  ).exec(text);
  for (const pair of [by, legs]) {
    if (pair === null || found.has('length')) continue;
    put('length', pair[1]?.replaceAll(',', ''));
    put('width', pair[2]?.replaceAll(',', ''));
    if (pair[3] !== undefined) put('height', pair[3].replaceAll(',', ''));
  }
  return found;
}

/** Measures in different units would have to be converted first, which no formula here does. */
function unitsOf(text: string): Set<string> {
  const units = text.matchAll(
    /\d\s*-?\s*(mm|millimet(?:re|er)s?|cm|centimet(?:re|er)s?|m|met(?:re|er)s?|km|kilomet(?:re|er)s?|inch(?:es)?|feet|foot|ft|yards?|miles?)\b/gi,
  );
  return new Set(
    [...units].map((match) =>
      (match[1] ?? '')
        .toLowerCase()
        .replace(/meter/, 'metre')
        .replace(/s$/, '')
        .replace(/^(?:feet|ft)$/, 'foot'),
    ),
  );
}
