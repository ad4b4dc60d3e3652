import { chunkDocument } from '../../core/tasks/task.ts';
import { extractSentences } from '../reader/extract.ts';
import { chooseAnswer } from '../reader/reason.ts';
import { searchPassages } from '../reader/search.ts';
import { proposeTriples } from '../reader/triple.ts';
import { added } from './document/added.ts';
import { agentNamed } from './document/agent-noun.ts';
import { counted } from './document/counted.ts';
import { labelled, tabled } from './document/labelled.ts';
import { placed, titled } from './document/placed.ts';
import { type DocumentText, documentText } from './document-text.ts';
import { asksForNumber, fitFormat } from './fit-format.ts';
import { figuresForWords } from './number-words.ts';
import { sentenceThatAsks } from './question-text.ts';
import type { Solution } from './solution.ts';
import type { Workings } from './workings.ts';

/** Answers a question about the document `file`, which `reader` reads. */
export async function solveDocument(
  question: string,
  file: string,
  reader: string,
  workings: Workings,
): Promise<Solution> {
  const reply = await workings.ask(reader, { file });
  if (reply === undefined) return workings.giveUp('document', `${file} is needed.`);
  return answerFromDocument(question, documentText(reply.text), workings);
}

/** By counting where that is asked, by a table or a line with a label where the question names it, else by the embedded reader. */
export function answerFromDocument(question: string, document: DocumentText, workings: Workings): Solution {
  if (document.text.trim() === '') return workings.giveUp('document', 'The document holds no text.');
  return (
    counted(question, document, workings) ??
    titled(question, document, workings) ??
    tabled(question, document, workings) ??
    placed(question, document, workings) ??
    labelled(question, document, workings) ??
    added(question, document, workings) ??
    read(question, document, workings)
  );
}

/** The four steps of the embedded reader. */
function read(question: string, { text }: DocumentText, workings: Workings): Solution {
  const asked = sentenceThatAsks(question);
  const agent = agentNamed(asked, text);
  if (agent !== undefined) {
    workings.say(`The text says: "${agent.evidence}"`);
    return workings.answer('document', fitFormat(question, agent.name), 0.6);
  }
  const passages = searchPassages(asked, chunkDocument(text));
  const sentences = extractSentences(asked, passages);
  const proposed = proposeTriples(asked, sentences);
  const fitting = asksForNumber(asked)
    ? proposed.triples.filter(({ object }) => /\d/.test(figuresForWords(object)))
    : [];
  const triples = fitting.length > 0 ? fitting : proposed.triples;
  const { answer, evidence, confidence } = chooseAnswer(asked, { ...proposed, triples });
  if (answer === '')
    return workings.giveUp('document', 'The reader found no sentence that answers the question.');
  workings.say(`The reader takes it from: "${evidence}"`);
  return workings.answer('document', fitFormat(question, answer), confidence);
}
