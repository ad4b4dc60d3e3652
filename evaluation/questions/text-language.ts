/** Words that stand in every text of a language, and seldom in one of another. */
const COMMON_WORDS: Readonly<Record<string, string>> = {
  English: 'the of and to in is was that it for with as by from at this are be on not',
  German: 'der die das und ist nicht ein eine mit von zu den auf für im dem des sich wurde auch',
  French: 'le la les des et est une un dans pour que qui sur du au de en il par avec',
  Spanish: 'el la los las y es una un en que por con del para se de al su como más',
  Italian: 'il la che di è una un per con del della non sono gli nel i le da si al',
  Portuguese: 'o a os as e é um uma que do da em para com não de no na por se',
  Dutch: 'de het een en van is dat niet op met voor zijn te in aan werd door ook bij om',
  Swedish: 'och att det som en är på av för den inte med i till ett var de om han från',
  Polish: 'i w na się z do jest że nie to jak o po od przez był oraz za ale są',
};

const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ['Japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['Chinese', /\p{Script=Han}/gu],
  ['Korean', /\p{Script=Hangul}/gu],
  ['Cyrillic', /\p{Script=Cyrillic}/gu],
  ['Greek', /\p{Script=Greek}/gu],
  ['Arabic', /\p{Script=Arabic}/gu],
  ['Hebrew', /\p{Script=Hebrew}/gu],
  ['Devanagari', /\p{Script=Devanagari}/gu],
  ['Thai', /\p{Script=Thai}/gu],
];

const SAMPLE_CHARACTERS = 20_000;
/** Of fewer nobody can tell. */
const MIN_WORDS = 20;
const MIN_LETTERS = 20;
/** Prose has a quarter to a half of such words; lists and tables, few. */
const MIN_SHARE = 0.08;
/** Languages that are close share many words. */
const MIN_LEAD = 1.2;

/** What a text is written in, as an adjective: its language, or its script where that tells more; undefined where it cannot be told. */
export function detectLanguage(text: string): string | undefined {
  const sample = text.slice(0, SAMPLE_CHARACTERS);
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  if (letters < MIN_LETTERS) return undefined;
  for (const [name, script] of SCRIPTS) {
    const share = (sample.match(script)?.length ?? 0) / letters;
    // Japanese writes many words in Chinese letters.
    if (share > (name === 'Japanese' ? 0.15 : 0.5)) return name;
  }
  const words = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  if (words.length < MIN_WORDS) return undefined;
  const [best, second] = Object.entries(COMMON_WORDS)
    .map(([language, common]) => {
      const known = new Set(common.split(' '));
      return { language, share: words.filter((word) => known.has(word)).length / words.length };
    })
    .sort((a, b) => b.share - a.share);
  if (best === undefined || best.share < MIN_SHARE) return undefined;
  return best.share >= MIN_LEAD * (second?.share ?? 0) ? best.language : undefined;
}
