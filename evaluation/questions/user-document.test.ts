import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { MAX_DOCUMENT_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { detectLanguage, readUserDocument } from './user-document.ts';

test.each([
  [
    'English',
    'The bridge was opened on 3 October 1868. It is 240 metres long, and it was built by the engineers of the railway in two years.',
  ],
  [
    'German',
    'Die Brücke wurde am 3. Oktober 1868 eröffnet. Sie ist 240 Meter lang und wurde von den Ingenieuren der Eisenbahn in zwei Jahren gebaut.',
  ],
  [
    'French',
    'Le pont a été ouvert le 3 octobre 1868. Il est long de 240 mètres et les ingénieurs du chemin de fer l’ont construit en deux ans.',
  ],
  [
    'Spanish',
    'El puente se abrió el 3 de octubre de 1868. Tiene 240 metros de largo y los ingenieros del ferrocarril lo construyeron en dos años.',
  ],
  ['Cyrillic', 'Мост был открыт 3 октября 1868 года. Его длина составляет 240 метров.'],
  ['Chinese', '这座桥于一八六八年十月三日开通,全长二百四十米,由铁路工程师用两年时间建成。'],
  ['Japanese', 'この橋は一八六八年十月三日に開通しました。全長は二百四十メートルです。'],
])('tells %s', (language, text) => {
  expect(detectLanguage(text)).toBe(language);
});

test.each(['', 'Yes.', '1, 2, 3\n4, 5, 6\n'.repeat(50), 'red;green;blue;cyan;black;white\n'.repeat(10)])(
  'says nothing of %j, which has no language to tell',
  (text) => {
    expect(detectLanguage(text)).toBeUndefined();
  },
);

test('a table is read without a sentence of its reader, which would count as text beside it', async () => {
  const file = path.join(temporaryFolder(), 'ships.csv');
  writeFileSync(file, 'Year,Ship\n1900,Anna\n1901,Berta\n');
  const { text } = await readUserDocument(file);
  expect(text).toContain('| Berta |');
  expect(text).not.toMatch(/\.$/m);
});

test('a document in two languages has none to tell', () => {
  const [english, german] = [
    'the of and to in is was that it for ',
    'der die das und ist nicht ein eine mit von ',
  ];
  expect(detectLanguage(english.repeat(5))).toBe('English');
  expect(detectLanguage(`${english.repeat(5)}${german.repeat(5)}`)).toBeUndefined();
});

test('a document is bounded in bytes, not in characters', async () => {
  const file = path.join(temporaryFolder(), 'long.html');
  // The markup is not counted, and the text takes two bytes for each character.
  writeFileSync(file, `<p>${'é'.repeat(MAX_DOCUMENT_BYTES / 2)}x</p>`);
  await expect(readUserDocument(file)).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining(`has at most ${MAX_DOCUMENT_BYTES}`),
  });
});
