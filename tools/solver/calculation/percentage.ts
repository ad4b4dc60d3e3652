import type { Reading } from '../solution.ts';

const NUMBER = String.raw`[$€£]?\s?(\d[\d,]*(?:\.\d+)?)`;
const PERCENT = String.raw`(\d[\d,]*(?:\.\d+)?)\s*(?:%|percent|per cent)`;
const LESS =
  /\b(?:discount|off|marked down|reduc\w+|sale|cheaper|decreas\w+|drops?|dropped|fell|falls?|los[est]\w*|lower(?:ed)?|declin\w+|shr[aiu]nk\w*|less|down)\b/i;
const MORE =
  /\b(?:increas\w+|rais\w+|rises?|rose|risen|tax|vat|tip|service charge|mark(?:ed)?[- ]?up|gr[eo]ws?|grown|up|more|dearer|surcharge|gains?|gained)\b/i;
/** The percentage itself is asked for, not what is left or comes of it. */
const PART =
  /\b(?:how much|what) (?:is|was|will be|would be|do|does|did|would|will)?\s?(?:the |an? |you |he |she |they |we |i |one )?(?:[\w.]+%? )?(?:discount|reduction|saved?|saving|tip|tax|vat|interest|increase|decrease|commission)\b/i;

/** Percentages in the ways that people ask for them. @param text the question with its numbers in figures */
export function readPercentage(text: string): Reading | undefined {
  return share(text) ?? change(text) ?? original(text) ?? growth(text) ?? changed(text) ?? partOf(text);
}

/** What percentage of 80 is 20, and the other ways round. */
function share(text: string): Reading | undefined {
  const ofFirst = new RegExp(
    `\\b(?:what|which) (?:percent|per cent|percentage|%) of ${NUMBER} (?:is|are|was|were|do|does|make)\\s?(?:the |up )?${NUMBER}(?!\\s*%)`,
    'i',
  ).exec(text);
  const ofLast =
    new RegExp(
      `${NUMBER}(?: \\w+)? (?:is|are|was|were|makes?) (?:what|which) (?:percent|per cent|percentage|%) of ${NUMBER}`,
      'i',
    ).exec(text) ??
    new RegExp(
      `\\b(?:what|which) (?:percent|per cent|percentage|%) (?:is|are) ${NUMBER} (?:out )?of ${NUMBER}`,
      'i',
    ).exec(text);
  const [whole, part] = ofFirst !== null ? [ofFirst[1], ofFirst[2]] : [ofLast?.[2], ofLast?.[1]];
  if (whole === undefined || part === undefined) return undefined;
  return { why: 'The part is divided by the whole.', expression: `${plain(part)} / ${plain(whole)} * 100` };
}

/** From 40 to 52: by how many percent. */
function change(text: string): Reading | undefined {
  if (!/\b(?:percent|per cent|percentage|%)/i.test(text) || new RegExp(PERCENT, 'i').test(text))
    return undefined;
  const match = new RegExp(`\\bfrom ${NUMBER}(?: [a-z]+)? to ${NUMBER}`, 'i').exec(text);
  if (match === null) return undefined;
  const [from, to] = [plain(match[1] ?? ''), plain(match[2] ?? '')];
  return {
    why: 'The change is divided by what it was before.',
    expression: `abs(${to} - ${from}) / ${from} * 100`,
  };
}

/** What it was before a change that is known: 80 after 20 % off. */
function original(text: string): Reading | undefined {
  if (!/\b(?:original(?:ly)?|before|initial(?:ly)?)\b[^.?]*\?/i.test(text)) return undefined;
  const { amounts, percents } = figuresIn(text);
  const [amount, ...others] = amounts;
  const [percent, ...more] = percents;
  const sign = signAt(text, percent?.at ?? 0);
  if (amount === undefined || percent === undefined || others.length + more.length > 0 || sign === undefined)
    return undefined;
  return {
    why: 'What is left is divided by its share of the whole.',
    expression: `${amount.value} / (1 ${sign} ${percent.value} / 100)`,
  };
}

/** Compound interest over some years. */
function growth(text: string): Reading | undefined {
  const years = /\b(\d+) years?\b/i.exec(text)?.[1];
  const isCompound =
    /\bcompound(?:ed|ing|s)?\b|\bevery year\b|\bper year\b|\beach year\b|\bannual(?:ly)?\b|\ba year\b/i.test(
      text,
    );
  if (
    years === undefined ||
    !isCompound ||
    /\b(?:simple|monthly|quarterly|daily|semi-?annual\w*)\b/i.test(text)
  )
    return undefined;
  const { amounts, percents } = figuresIn(text);
  const others = amounts.filter(({ value }) => value !== years);
  const [amount] = others;
  const [percent] = percents;
  if (amount === undefined || percent === undefined || others.length + percents.length > 2) return undefined;
  const sign = LESS.test(text) ? '-' : '+';
  const end = `${amount.value} * (1 ${sign} ${percent.value} / 100)^${years}`;
  const expression =
    /\bhow much (?:compound )?interest\b|\binterest (?:is|was|will be|has been)? ?earned\b/i.test(text)
      ? `${end} - ${amount.value}`
      : end;
  return { why: 'The amount changes by the same share each year.', expression };
}

/** An amount and one or more changes by so many percent, one after the other. */
function changed(text: string): Reading | undefined {
  const { amounts, percents } = figuresIn(text);
  const [amount, ...others] = amounts;
  if (amount === undefined || percents.length === 0 || others.length > 0) return undefined;
  if (PART.test(text)) {
    const [percent, ...more] = percents;
    if (percent === undefined || more.length > 0) return undefined;
    return { why: 'The share itself is asked for.', expression: `${amount.value} * ${percent.value} / 100` };
  }
  const [only, second] = percents;
  const isOfIt =
    second === undefined &&
    new RegExp(`${PERCENT} of (?:it|them|that|this|the (?:money|amount|total|sum))\\b`, 'i').test(text);
  if (isOfIt && only !== undefined) {
    const isRest = /\b(?:left|remain\w*|still|keeps?|rest)\b/i.test(text);
    const share = isRest ? `(1 - ${only.value} / 100)` : `${only.value} / 100`;
    return {
      why: isRest ? 'What is left is asked for.' : 'The share itself is asked for.',
      expression: `${amount.value} * ${share}`,
    };
  }
  const factors = percents.map(({ value, at }) => ({ value, sign: signAt(text, at) }));
  if (factors.some(({ sign }) => sign === undefined)) return undefined;
  const expression = [amount.value, ...factors.map(({ value, sign }) => `(1 ${sign} ${value} / 100)`)].join(
    ' * ',
  );
  return { why: 'Each change is taken of what the one before it left.', expression };
}

function partOf(text: string): Reading | undefined {
  const match = new RegExp(`^[^\\d$€£]*((?:${PERCENT} of )+)(?:the )?${NUMBER}[^\\d]*$`, 'i').exec(text);
  if (match === null) return undefined;
  const factors = [...(match[1] ?? '').matchAll(new RegExp(PERCENT, 'gi'))].map(
    (percent) => `(${plain(percent[1] ?? '')} / 100)`,
  );
  return {
    why: 'A share is multiplied by the whole.',
    expression: [...factors, plain(match.at(-1) ?? '')].join(' * '),
  };
}

interface Figure {
  readonly value: string;
  readonly at: number;
}

function figuresIn(text: string): { amounts: Figure[]; percents: Figure[] } {
  const amounts: Figure[] = [];
  const percents: Figure[] = [];
  for (const match of text.matchAll(/(\d[\d,]*(?:\.\d+)?)(\s*(?:%|percent\b|per cent\b))?/gi)) {
    const figure = { value: plain(match[1] ?? ''), at: match.index };
    (match[2] === undefined ? amounts : percents).push(figure);
  }
  return { amounts, percents };
}

/** Up or down, by the nearest word that says so: mostly the clause that the percentage stands in. */
function signAt(text: string, at: number): '+' | '-' | undefined {
  const from = Math.max(
    text.lastIndexOf('.', at),
    text.lastIndexOf(';', at),
    text.lastIndexOf(' then ', at),
    0,
  );
  const rest = text.slice(at);
  const stop = rest.search(/[.;?](?!\d)|,? (?:and )?then /);
  const clause = text.slice(from, stop < 0 ? undefined : at + stop);
  for (const scope of [clause, text]) {
    const [less, more] = [LESS.test(scope), MORE.test(scope)];
    if (less !== more) return less ? '-' : '+';
  }
  return undefined;
}

function plain(number: string): string {
  return number.replaceAll(',', '');
}
