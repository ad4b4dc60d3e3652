// Porter's suffix stripper (M. F. Porter, "An algorithm for suffix stripping", 1980), English only.
// Numbers and words outside a-z are returned as they are: a stemmed "1934" would match other years.

const STEP_2: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
];
const STEP_3: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];
const STEP_4 = 'al ance ence er ic able ible ant ement ment ent sion tion ou ism ate iti ous ive ize'.split(
  ' ',
);

// Irregular forms that no suffix rule joins; only the frequent ones, as the rest would not pay for themselves.
const IRREGULAR = new Map(
  (
    'wrote:write written:write writing:write won:win winning:win born:birth began:begin begun:begin became:become ' +
    'led:lead made:make took:take taken:take gave:give given:give went:go gone:go held:hold built:build sang:sing ' +
    'sung:sing song:sing songs:sing founded:found founder:found founding:found died:die death:die dying:die dead:die ' +
    'fought:fight sold:sell bought:buy met:meet left:leave lost:lose sent:send spent:spend taught:teach thought:think ' +
    'told:tell wore:wear grew:grow grown:grow knew:know known:know chose:choose chosen:choose fell:fall fallen:fall ' +
    'rose:rise risen:rise drew:draw drawn:draw drove:drive driven:drive ran:run running:run spoke:speak spoken:speak ' +
    'came:come saw:see seen:see said:say says:say paid:pay kept:keep brought:bring caught:catch children:child ' +
    'men:man women:woman people:person feet:foot teeth:tooth author:write writer:write winner:win leader:lead ' +
    'singer:sing player:play actor:act actress:act'
  )
    .split(' ')
    .map((pair): [string, string] => {
      const [form = '', base = ''] = pair.split(':');
      return [form, base];
    }),
);

export function stemWord(lower: string): string {
  const irregular = IRREGULAR.get(lower);
  if (irregular !== undefined) return irregular;
  if (lower.length < 3 || lower.length > 30 || !/^[a-z]+$/.test(lower)) return lower;
  return stripFinalE(stripSuffix(replaceSuffix(replaceSuffix(stripPlural(lower), STEP_2), STEP_3)));
}

function isVowel(word: string, at: number): boolean {
  const letter = word[at];
  if (letter === undefined) return false;
  if ('aeiou'.includes(letter)) return true;
  return letter === 'y' && at > 0 && !isVowel(word, at - 1);
}

/** Returns Porter's m: the number of changes from vowel to consonant. */
function measure(word: string): number {
  let turns = 0;
  let wasVowel = false;
  for (let at = 0; at < word.length; at++) {
    const vowel = isVowel(word, at);
    if (wasVowel && !vowel) turns++;
    wasVowel = vowel;
  }
  return turns;
}

function hasVowel(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (isVowel(word, at)) return true;
  return false;
}

function hasDoubleEnd(word: string): boolean {
  return word.length > 1 && word.at(-1) === word.at(-2) && !isVowel(word, word.length - 1);
}

function hasShortEnd(word: string): boolean {
  const at = word.length - 1;
  return (
    at >= 2 &&
    !isVowel(word, at) &&
    isVowel(word, at - 1) &&
    !isVowel(word, at - 2) &&
    !'wxy'.includes(word[at] ?? '')
  );
}

function stripPlural(word: string): string {
  let out = word;
  if (out.endsWith('sses') || out.endsWith('ies')) out = out.slice(0, -2);
  else if (out.endsWith('s') && !out.endsWith('ss')) out = out.slice(0, -1);

  if (out.endsWith('eed')) {
    if (measure(out.slice(0, -3)) > 0) out = out.slice(0, -1);
  } else {
    const cut = out.endsWith('ed') ? 2 : out.endsWith('ing') ? 3 : 0;
    const base = out.slice(0, out.length - cut);
    if (cut > 0 && hasVowel(base)) {
      if (/(?:at|bl|iz)$/.test(base)) out = `${base}e`;
      else if (hasDoubleEnd(base) && !/[lsz]$/.test(base)) out = base.slice(0, -1);
      else if (measure(base) === 1 && hasShortEnd(base)) out = `${base}e`;
      else out = base;
    }
  }
  return out.endsWith('y') && hasVowel(out.slice(0, -1)) ? `${out.slice(0, -1)}i` : out;
}

function replaceSuffix(word: string, rules: readonly (readonly [string, string])[]): string {
  for (const [suffix, replacement] of rules) {
    if (!word.endsWith(suffix)) continue;
    const base = word.slice(0, -suffix.length);
    return measure(base) > 0 ? base + replacement : word;
  }
  return word;
}

function stripSuffix(word: string): string {
  for (const suffix of STEP_4) {
    if (!word.endsWith(suffix)) continue;
    // "ion" falls only after s or t, so the two long forms keep that letter.
    const base = suffix.endsWith('ion') ? word.slice(0, -3) : word.slice(0, -suffix.length);
    return measure(base) > 1 ? base : word;
  }
  return word;
}

function stripFinalE(word: string): string {
  let out = word;
  if (out.endsWith('e')) {
    const base = out.slice(0, -1);
    const turns = measure(base);
    if (turns > 1 || (turns === 1 && !hasShortEnd(base))) out = base;
  }
  return out.endsWith('ll') && measure(out) > 1 ? out.slice(0, -1) : out;
}
