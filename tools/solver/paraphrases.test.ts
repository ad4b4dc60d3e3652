import { afterAll, expect, test } from 'vitest';
import { gaiaCorrect } from '../../core/evaluation/gaia.ts';
import { solve } from './solve.ts';
import { toolsInProcess } from './testing/in-process.ts';

/** Other questions about the samples' files, written after the solver worked: how far do the rules carry? */
const PARAPHRASES: readonly (readonly [question: string, truth: string, file: string])[] = [
  ['I need 15 percent of 1,640. How much is that?', '246', ''],
  ['Expressed in hours, how long is a fortnight?', '336', ''],
  ['A parcel weighs 5.5 pounds. What is that in kilograms, to two decimals?', '2.49', ''],
  ['Twelve squared less the sum of 19 and 5: what is the outcome?', '120', ''],
  ['On which weekday did 1 March 2020 fall?', 'Sunday', ''],
  ['Spell the word "cormorant" from back to front.', 'tnaromroc', ''],
  ['Count the vowels in the word "unquestionable".', '7', ''],
  ['.eno dna ytnewt yb nevele ylpitluM', '231', ''],
  [
    'What would I see on the screen as the last line after starting the enclosed program?',
    'Host: Ferelith',
    'seating_plan.py',
  ],
  [
    'Please tell me the total number of crates that came from the Old Quarry orchard.',
    '285',
    'orchard-harvest.xlsx',
  ],
  [
    'Which variety fetched the highest single price per crate in this log?',
    'Bramley',
    'orchard-harvest.xlsx',
  ],
  ['How many of the lights are not automated?', '4', 'lighthouses.xlsx'],
  ['Name the county with the most lighthouses in the file.', 'Morrow', 'lighthouses.xlsx'],
  [
    'What is the average number of passengers per ticket on the Tolmin route, rounded to one decimal place?',
    '3.8',
    'ferry-tickets.csv',
  ],
  ['Which title has been borrowed most often?', "The Cartographer's Aunt", 'library-catalogue.csv'],
  [
    'How old is the opening of the bridge, that is, in what year was it opened?',
    '1954',
    'footbridge-report.pdf',
  ],
  ['From when on can visitors see the astrolabe?', '14 March', 'museum-letter.docx'],
  ['Who runs the nursery for sea urchins?', 'Eliud Marsh', 'reef-survey.pptx'],
  [
    'At which height above the sea, in metres, does the highest station stand?',
    '688',
    'weather-stations.json',
  ],
  ['What phone number should one call in an emergency?', '0555 018 347', 'boathouse-notice.png'],
];

/** 16 at the first run. What four misses showed about rounding and about words for a height was mended, which brought two more. */
const REACHED = 18;

/** Seconds on an idle machine; others may keep it busy. */
const SLOW_MS = 300_000;

const tools = toolsInProcess();
afterAll(() => tools.close());

test(
  `of ${PARAPHRASES.length} questions in other words, at least ${REACHED} are answered right`,
  async () => {
    const missed: string[] = [];
    for (const [index, [question, truth, file]] of PARAPHRASES.entries()) {
      const use = tools.toolsFor(`paraphrase-${index}`, file);
      const { answer } = await solve({ question, ...(file === '' ? {} : { file }) }, use);
      if (!gaiaCorrect(answer ?? 'None', truth)) missed.push(`${question} → ${answer}, not ${truth}`);
    }
    expect(PARAPHRASES.length - missed.length, missed.join('\n')).toBeGreaterThanOrEqual(REACHED);
  },
  SLOW_MS,
);
