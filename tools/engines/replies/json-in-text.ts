/** JSON values of one reply that are looked at; a reply with more is no reply with JSON in it. */
const MAX_CANDIDATES = 64;

/**
 * The texts in a reply that may be the JSON that was asked for, the likeliest first: all of it, blocks of code from the last to the first,
 * then what stands between matching braces, the outermost and the last first. Models say a word before and after, whatever they are told.
 */
export function findJsonCandidates(text: string): string[] {
  const fenced = [...text.matchAll(/```[\w-]*[ \t]*\r?\n?([\s\S]*?)(?:```|$)/g)].map(
    ([, inner = '']) => inner,
  );
  const all = [text, ...fenced.reverse(), ...findBraced(text).reverse()].map((candidate) => candidate.trim());
  return [...new Set(all)].filter((candidate) => /^[[{"]/.test(candidate)).slice(0, MAX_CANDIDATES);
}

/** Objects and lists that stand in a text, outermost only, in their order. Braces in JSON's strings count for nothing. */
function findBraced(text: string): string[] {
  const found: string[] = [];
  const open: string[] = [];
  let begin = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (isString) {
      if (character === '\\') at += 1;
      else if (character === '"') isString = false;
      // JSON's strings have no bare line ends: a quotation mark of the prose was no string.
      else if (character === '\n') isString = false;
      continue;
    }
    if (character === '"') isString = open.length > 0;
    else if (character === '{' || character === '[') {
      if (open.length === 0) begin = at;
      open.push(character);
    } else if ((character === '}' || character === ']') && open.length > 0) {
      const isMatch = open.at(-1) === (character === '}' ? '{' : '[');
      if (!isMatch) open.length = 0;
      else open.pop();
      if (isMatch && open.length === 0) found.push(text.slice(begin, at + 1));
    }
  }
  return found;
}

/** As JSON, or with the slips that models make mended: a comma too many, comments, Python's names for true, false and none. */
export function mendJsonTexts(candidate: string): string[] {
  const mended = candidate.replace(
    /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=\s*[}\]])|\b(?:True|False|None)\b/g,
    (part) => {
      if (part.startsWith('"')) return part;
      const names: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };
      return names[part] ?? '';
    },
  );
  return mended === candidate ? [candidate] : [candidate, mended];
}
