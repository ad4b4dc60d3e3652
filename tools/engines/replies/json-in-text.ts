/** Maximum JSON values of a reply that are tried; a reply with more is not the JSON that was asked for. */
const MAX_CANDIDATES = 64;

/**
 * Returns the texts in a reply that may be the JSON that was asked for, the likeliest first: all of it, code blocks from the last to the
 * first, then texts between matching braces, outermost and last first. Models write words before and after, even if told not to.
 */
export function findJsonCandidates(text: string): string[] {
  const fenced = [...text.matchAll(/```[\w-]*[ \t]*\r?\n?([\s\S]*?)(?:```|$)/g)].map(
    ([, inner = '']) => inner,
  );
  const all = [text, ...fenced.reverse(), ...findBraced(text).reverse()].map((candidate) => candidate.trim());
  return [...new Set(all)].filter((candidate) => /^[[{"]/.test(candidate)).slice(0, MAX_CANDIDATES);
}

/** Returns the outermost objects and lists in a text, in their order. Braces in JSON's strings are ignored. */
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
      // JSON's strings have no bare line ends, so this quotation mark belonged to prose.
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

/**
 * Returns an object that was cut off in one of its lists, closed behind the list's last whole item; undefined where the cut is elsewhere, since
 * half a text is none. Small models fill a list until their reply is full.
 */
export function closeCutList(text: string): string | undefined {
  const begin = text.indexOf('{');
  if (begin === -1) return undefined;
  const open: string[] = [];
  let whole: number | undefined;
  let isString = false;
  for (let at = begin; at < text.length; at++) {
    const character = text[at] ?? '';
    if (isString) {
      if (character === '\\') at += 1;
      isString = character !== '"';
    } else if (character === '"') isString = true;
    else if (character === '{' || character === '[') open.push(character);
    else if (character === '}' || character === ']') open.pop();
    if (open.length === 0) return undefined;
    const isInList = open.length === 2 && open[1] === '[';
    if (open.length === 1) whole = undefined;
    // A number is whole only with the comma that follows it.
    else if (isInList && !isString && /["},]/.test(character)) whole = character === ',' ? at : at + 1;
  }
  return whole === undefined ? undefined : `${text.slice(begin, whole)}]}`;
}

/** Returns the candidate, and a repaired copy if models' typical slips are in it: trailing commas, comments, Python's True, False and None. */
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
