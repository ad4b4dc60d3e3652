/** A piece of a calculation that is written in words and signs. */
export type Token =
  | { readonly is: 'number'; readonly text: string }
  | { readonly is: 'sign'; readonly text: Sign }
  /** `square root of X`: what comes before its one argument. */
  | { readonly is: 'function'; readonly before: string; readonly after: string }
  /** `sum of X, Y and Z`: `join` goes between its arguments, `around` about them. */
  | { readonly is: 'list'; readonly join: string; readonly around: string }
  /** `X squared`. */
  | { readonly is: 'suffix'; readonly after: string }
  /** `then add X`: what is done with the value so far; `preposition` is what leads the other operand. */
  | { readonly is: 'step'; readonly sign: Sign; readonly preposition: string }
  | { readonly is: 'own-step'; readonly before: string; readonly after: string }
  | { readonly is: 'word'; readonly text: string };

export type Sign =
  | '+'
  | '-'
  | '*'
  | '/'
  | '^'
  | ' mod '
  | '('
  | ')'
  | ','
  | 'and'
  | 'by'
  | 'to'
  | 'from'
  | 'swap-'
  | 'swap+';

const list = (join: string, around = ''): Token => ({ is: 'list', join, around });
const unary = (before: string, after = ')'): Token => ({ is: 'function', before, after });
const suffix = (after: string): Token => ({ is: 'suffix', after });
const sign = (text: Sign): Token => ({ is: 'sign', text });
const step = (of: Sign, preposition: string): Token => ({ is: 'step', sign: of, preposition });

/** What each phrase means; the first that fits counts, so the longer ones come first. */
const PHRASES: readonly (readonly [pattern: string, token: Token])[] = [
  ['(?:sum|total) of', list(' + ')],
  ['product of', list(' * ')],
  ['(?:positive |absolute )?difference (?:between|of)', list(' - ', 'abs')],
  ['(?:quotient|ratio) of', list(' / ')],
  ['(?:arithmetic )?(?:average|mean) of', list(', ', 'mean')],
  ['(?:median) of', list(', ', 'median')],
  ['(?:greatest common (?:divisor|factor)|highest common factor|gcd|hcf|gcf) of', list(', ', 'gcd')],
  ['(?:least|lowest|smallest) common multiple of|lcm of', list(', ', 'lcm')],
  ['(?:largest|maximum|biggest) of', list(', ', 'max')],
  ['(?:smallest|minimum) of', list(', ', 'min')],
  ['remainder (?:of|when|if|left when|left over when|after|from)(?: dividing| you divide)?', unary('(')],
  ['square root of|sqrt|√', unary('sqrt(')],
  ['cube root of', unary('cbrt(')],
  ['natural log(?:arithm)? of|ln', unary('log(')],
  ['(?:common |decimal |base[- ]10 |base[- ]ten )log(?:arithm)? of', unary('log10(')],
  ['(?:binary |base[- ]2 |base[- ]two )log(?:arithm)? of', unary('log2(')],
  ['log(?:arithm)?(?: to)?(?: the)?(?: in)? base (\\d+) of', unary('log(', ', $1)')],
  ['sin(?:e)?(?: of)?(?= ?\\(?\\d+(?:\\.\\d+)? ?(?:degrees|°))', unary('sin(', ' deg)')],
  ['cos(?:ine)?(?: of)?(?= ?\\(?\\d+(?:\\.\\d+)? ?(?:degrees|°))', unary('cos(', ' deg)')],
  ['tan(?:gent)?(?: of)?(?= ?\\(?\\d+(?:\\.\\d+)? ?(?:degrees|°))', unary('tan(', ' deg)')],
  ['degrees|°', { is: 'word', text: '' }],
  ['absolute value of', unary('abs(')],
  ['reciprocal of', unary('1 / (')],
  ['factorial of', unary('(', ')!')],
  ['(?:square|second power) of', unary('(', ')^2')],
  ['(?:cube|third power) of', unary('(', ')^3')],
  ['(?:double|doubling) (?:it|that|the result)', { is: 'own-step', before: '2 * (', after: ')' }],
  ['(?:halve|halving) (?:it|that|the result)', { is: 'own-step', before: '(', after: ') / 2' }],
  ['(?:triple|tripling) (?:it|that|the result)', { is: 'own-step', before: '3 * (', after: ')' }],
  ['square (?:it|that|the result)', { is: 'own-step', before: '(', after: ')^2' }],
  ['(?:twice|double|2 times|two times)(?: of)?', unary('2 * (')],
  ['(?:thrice|triple)(?: of)?', unary('3 * (')],
  ['half(?: of)?', unary('0.5 * (')],
  ['squared|²', suffix('^2')],
  ['cubed|³', suffix('^3')],
  ['factorial|!', suffix('!')],
  ['(?:raised )?to the (\\d+)(?:st|nd|rd|th)(?: power)?|to the power (?:of )?(\\d+)', suffix('^$1$2')],
  ['(?:raised )?to the power(?: of)?|\\^|\\*\\*', sign('^')],
  ['(?:%|percent|per cent) of', suffix(' / 100 *')],
  [
    'multipl(?:y|ying)(?: (?:it|that|this|the (?:result|outcome|answer|number)))?(?: (?:by|with))?',
    step('*', 'by'),
  ],
  ['divid(?:e|ing)(?: (?:it|that|this|the (?:result|outcome|answer|number)))?(?: by)?', step('/', 'by')],
  ['subtract(?:ing)?|take away|deduct', step('-', 'from')],
  ['add(?:ing)?', step('+', 'to')],
  [
    '(?:is |are )?multiplied (?:by|with)|times|×|·|⋅|\\*|x(?=\\s?\\d)|of(?= (?:the )?(?:\\d|sum|product|difference|square|cube))',
    sign('*'),
  ],
  ['(?:is |are |you )?divided? by|over|÷|/|:(?=\\s?\\d)', sign('/')],
  ['modulo|mod', sign(' mod ')],
  ['subtracted from|less than|fewer than', sign('swap-')],
  ['added to|more than', sign('swap+')],
  ['increased by|plus|\\+', sign('+')],
  ['decreased by|minus|less|[-−–](?=\\s|\\(|\\d)', sign('-')],
  ['\\(|\\[', sign('(')],
  ['\\)|\\]', sign(')')],
  [',', sign(',')],
  ['and|together with', sign('and')],
  ['by', sign('by')],
  ['from', sign('from')],
  ['to', sign('to')],
];

const FILLER =
  /^(?:the|of|a|an|numbers?|value|values|result|it|that|this|then|when|whole|is|are|together|you|we|take|start|begin|starting|with|both|following|integers?)$/i;

const NUMBER = /^(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|^\.\d+/;
const COMPILED = PHRASES.map(([pattern, token]) => ({
  pattern: new RegExp(`^(?:${pattern})(?![a-z])`, 'i'),
  marks: new RegExp(`^(?:${pattern})`, 'i'),
  token,
}));

/** Cuts a question into what belongs to a calculation and what does not; filler words are left out. */
export function arithmeticTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let rest = text.trimStart();
  while (rest !== '') {
    const { token, length } = nextToken(rest);
    if (token !== undefined) tokens.push(token);
    rest = rest.slice(length).trimStart();
  }
  return tokens;
}

function nextToken(rest: string): { token: Token | undefined; length: number } {
  const number = NUMBER.exec(rest)?.[0];
  // `2nd` and `3D` are no numbers to calculate with.
  if (number !== undefined && !/^[a-wyz]/i.test(rest.slice(number.length))) {
    return { token: { is: 'number', text: number.replaceAll(',', '') }, length: number.length };
  }
  for (const { pattern, marks, token } of COMPILED) {
    const match = pattern.exec(rest) ?? (/^[^a-z]/i.test(rest) ? marks.exec(rest) : null);
    if (match !== null && match[0] !== '') return { token: filledIn(token, match), length: match[0].length };
  }
  const word = /^(?:[\p{L}\p{M}\p{N}'’-]+|.)/su.exec(rest)?.[0] ?? rest.slice(0, 1);
  return { token: FILLER.test(word) ? undefined : { is: 'word', text: word }, length: word.length };
}

function filledIn(token: Token, match: RegExpExecArray): Token | undefined {
  if (token.is === 'word') return undefined;
  if (token.is !== 'suffix' && token.is !== 'function') return token;
  return {
    ...token,
    after: token.after.replace(/\$(\d)/g, (_, group: string) => match[Number(group)] ?? ''),
  };
}
