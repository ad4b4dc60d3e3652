import type { ModelFormat } from '../model-format.ts';
import { openaiFormat } from '../openai.ts';

/** The format of the process that runs models: OpenAI's, with advice for a server that the user neither started nor can configure. */
export const llamaFormat: ModelFormat = {
  ...openaiFormat,
  buildAdvice: () => ({
    start:
      'the process that ran the model has ended, mostly for lack of memory: take a smaller model or --context',
    busy: ' (--concurrency)',
    key: 'the model of another run was asked; run the command again',
    longPrompt: 'give it a larger context (--context), if the model has one, or take another model',
    onlyThoughts: 'take a model without thoughts',
    cutReply: 'raise max_tokens (--engine-option max_tokens=4096), or take a larger model, which loops less',
    missingModel: () => 'name its GGUF file with --model',
  }),
};
