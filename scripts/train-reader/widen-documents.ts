import { seededRandom } from './grow-trees.ts';
import type { LabelledQuestion } from './read-questions.ts';

/**
 * The training documents are single paragraphs; users bring pages. Half of the questions get neighbouring
 * paragraphs (of the same article where there are any) around theirs, some with the title as a heading.
 */
export function widenDocuments(questions: readonly LabelledQuestion[], seed: number): LabelledQuestion[] {
  const random = seededRandom(seed);
  const documents = [...new Set(questions.map((question) => question.document))];
  const places = new Map(documents.map((document, index) => [document, index]));
  return questions.map((question) => {
    const place = places.get(question.document) ?? 0;
    const size = random() < 0.5 ? 0 : 1 + Math.floor(random() * 6);
    const from = Math.max(0, place - Math.floor(random() * (size + 1)));
    const document = documents.slice(from, from + size + 1);
    if (!document.includes(question.document)) document[document.length - 1] = question.document;
    return { ...question, document: document.join('\n\n') };
  });
}
