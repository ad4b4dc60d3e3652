import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { DOC_INIT, FINAL_ANSWER } from '@gaia-mesh/core/contracts/packet.ts';
import { callType, type Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { createDataTool } from '../data-tool.ts';
import type { ToolServices } from '../tool-services.ts';
import { createForeignTool } from './foreign-tool.ts';
import { parseA2aOptions, readVariable } from './options.ts';

/** The tool name for sending a message to an A2A agent; its calls have no other. */
export const ASK = 'ask';

const documentSchema = z.looseObject({ question: z.string(), chunks: z.array(z.string()).default([]) });
const replySchema = z.looseObject({
  text: z.string().exactOptional(),
  data: z.looseObject({ state: z.string(), answer: z.string() }).optional().catch(undefined),
  error: z.looseObject({ code: z.string(), message: z.string() }).exactOptional(),
});

/**
 * Creates the tool that makes an A2A agent a member of a team. Other agents call it by `a2a.call`; if the team file subscribes it to
 * `doc_init`, it answers tasks by itself, given the question and the document.
 */
export function createA2aTool({ connectA2a }: Pick<ToolServices, 'connectA2a'>): Tool {
  const asked = createDataTool(
    createForeignTool({
      name: 'a2a',
      description: 'Hands messages on to an agent of A2A, whose card the team file names',
      settings: parseA2aOptions,
      connect({ options, environment, signal }) {
        const { url, token, later, max_bytes: maxMessageBytes } = parseA2aOptions(options);
        return connectA2a(
          {
            url,
            token: token === undefined ? undefined : readVariable(token, environment, 'a2a'),
            later,
            maxMessageBytes,
          },
          signal,
        );
      },
    }),
  );
  return {
    ...asked,
    emits: [...asked.emits, 'answer'],
    async run(packet, context) {
      if (packet.type !== DOC_INIT) return asked.run(packet, context);
      const { question, chunks } = documentSchema.parse(packet.payload);
      const document = chunks.join('');
      const args = document === '' ? { message: question } : { message: question, document };
      const call = {
        ...packet,
        type: callType('a2a'),
        payload: { arguments: { tool: ASK, arguments: args } },
      };
      const [reply] = await asked.run(call, context);
      const { text, data, error } = replySchema.parse(reply?.payload);
      if (text === undefined) throw new MeshError('agent', error?.message ?? 'no answer came');
      // The agent asks back instead of answering, and the team cannot reply to it.
      if (data?.state === 'TASK_STATE_INPUT_REQUIRED')
        throw new MeshError('agent', `the agent asks back (${data.state}): ${data.answer.slice(0, 1000)}`);
      const answer = data === undefined || data.answer === '' ? text : data.answer;
      return [{ type: 'answer', payload: { answer: answer.trim() }, tag: FINAL_ANSWER }];
    },
  };
}
