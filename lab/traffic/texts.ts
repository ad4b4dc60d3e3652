import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';

/** A paragraph with the heading above it. */
export interface Paragraph {
  readonly heading: string;
  readonly text: string;
}

/** Documents of the sample tasks, by name, in paragraphs. */
export type Texts = readonly { readonly name: string; readonly paragraphs: readonly Paragraph[] }[];

/** Reads the texts that were written for this project: `config/tasks`. */
export function readSourceTexts(): Texts {
  const folder = path.join(codeFolder, 'config', 'tasks');
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
    .map((name) => {
      const file = readdirSync(path.join(folder, name)).find((entry) => entry.startsWith('document.'));
      return { name, paragraphs: splitParagraphs(readFileSync(path.join(folder, name, file ?? ''), 'utf8')) };
    });
}

/** Splits a text into paragraphs. A short paragraph without a full stop is a heading. */
function splitParagraphs(text: string): Paragraph[] {
  let heading = '';
  return text
    .split(/\n\s*\n/)
    .map((block) => block.trim())
    .flatMap((block) => {
      if (block === '') return [];
      if (block.length < 90 && !block.endsWith('.')) {
        heading = block.replace(/^#+ /, '');
        return [];
      }
      return [{ heading, text: block }];
    });
}

export function splitSentences(text: string): string[] {
  return text.split(/(?<=[.!?]) +/).filter((sentence) => sentence !== '');
}
