import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { MAX_DOCUMENT_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { readUserDocument } from './user-document.ts';

async function isForeign(text: string): Promise<boolean> {
  const file = path.join(temporaryFolder(), 'a.txt');
  writeFileSync(file, text);
  return (await readUserDocument(file)).isForeign;
}

test.each([
  'Die Brücke wurde am 3. Oktober 1868 eröffnet. Sie ist 240 Meter lang und wurde von den Ingenieuren der Eisenbahn in zwei Jahren gebaut.',
  'Le pont a été ouvert le 3 octobre 1868. Il est long de 240 mètres et les ingénieurs du chemin de fer l’ont construit en deux ans.',
  'El puente se abrió el 3 de octubre de 1868. Tiene 240 metros de largo y los ingenieros del ferrocarril lo construyeron en dos años.',
  'Мост был открыт 3 октября 1868 года. Его длина составляет 240 метров.',
  '这座桥于一八六八年十月三日开通,全长二百四十米,由铁路工程师用两年时间建成。',
  'この橋は一八六八年十月三日に開通しました。全長は二百四十メートルです。',
])('says of a text in another language than English: %s', async (text) => {
  expect(await isForeign(text)).toBe(true);
});

test.each([
  'The bridge was opened on 3 October 1868. It is 240 metres long, and it was built by the engineers of the railway in two years.',
  'Yes.',
  '1, 2, 3\n4, 5, 6\n'.repeat(50),
  'red;green;blue;cyan;black;white\n'.repeat(10),
  'the of and to in is was that it for der das und ist nicht ein eine mit von '.repeat(5),
])('says nothing of English, and of what has no language to tell: %j', async (text) => {
  expect(await isForeign(text)).toBe(false);
});

test('a table is read without a sentence of its reader, which would count as text beside it', async () => {
  const file = path.join(temporaryFolder(), 'ships.csv');
  writeFileSync(file, 'Year,Ship\n1900,Anna\n1901,Berta\n');
  const { text } = await readUserDocument(file);
  expect(text).toContain('| Berta |');
  expect(text).not.toMatch(/\.$/m);
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
