import { cleanAnswer } from './clean-answer.ts';
import { answerFromDocument } from './document.ts';
import { givenText } from './document-text.ts';
import { fitFormat } from './fit-format.ts';
import type { Solution } from './solution.ts';
import type { Workings } from './workings.ts';

/** Below it the text of an image is guessed rather than read. */
const LEAST_CONFIDENCE = 40;

/** By what a vision model says, or the text that is recognised in the image. */
export async function solveImage(question: string, file: string, workings: Workings): Promise<Solution> {
  const reply = await workings.ask('analyze_image', { file, question });
  if (reply === undefined) return workings.giveUp('document', `${file} has to be looked at.`);
  const { text, confidence } = reply.data ?? {};
  if (typeof text !== 'string') {
    const answer = cleanAnswer(reply.text);
    return answer === null
      ? workings.giveUp('document', 'The vision model said nothing.')
      : workings.answer('document', fitFormat(question, answer), 0.6);
  }
  if (text.trim() === '' || (typeof confidence === 'number' && confidence < LEAST_CONFIDENCE)) {
    return workings.giveUp(
      'document',
      'No text can be read in the image: what is to be seen in it takes a vision model.',
    );
  }
  if (
    /\b(?:colou?r|chess|how many (?:people|animals|objects|dots|faces)|diagram|shape|wearing|standing|drawn)\b/i.test(
      question,
    )
  ) {
    return workings.giveUp(
      'document',
      'The question is about what is to be seen, not about text: that takes a vision model.',
    );
  }
  workings.say('The text in the image was recognised.');
  return answerFromDocument(
    question.replace(/\b(?:photo|photograph|picture|image|scan|screenshot) of (?:a|an|the)\s+/gi, ''),
    givenText(flowing(text)),
    workings,
  );
}

/** Large print has few words a line: a line that ends no sentence goes on, unless a label or a number stands there. */
function flowing(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  let joined = '';
  for (const [index, line] of lines.entries()) {
    const next = lines[index + 1];
    joined += line;
    if (next === undefined) break;
    const goesOn =
      !/[.!?:;\d]$/.test(line) &&
      !/\d$/.test(next) &&
      (/^\p{Ll}/u.test(next) ||
        /\b(?:is|are|was|were|of|the|an?|by|to|in|on|at|for|and|or|with|from)$/i.test(line));
    joined += goesOn ? ' ' : '\n';
  }
  return joined;
}
