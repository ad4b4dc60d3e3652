import type { Tool } from '../../core/tool.ts';
import { answering } from './answering.ts';
import { conclude } from './conclude.ts';
import { promptText } from './conversation.ts';
import { entryTool } from './role-tool.ts';

/**
 * The baseline: one agent, the question, the document and the text of the attached file, and nobody to ask. What teams add is
 * measured against it.
 */
export const answerAlone: Tool = entryTool({
  name: 'answer_alone',
  description: 'answers a question from the document and the attached file’s text alone, with nobody to ask',
  async run({ question, document, file }, work) {
    const answered = await answering(work, {
      prompt: 'answer-alone',
      variables: () => ({ question, document: promptText(document), file: promptText(file) }),
      problem: { question, document },
    });
    return conclude(question, answered);
  },
});
