import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { DOC_INIT, FINAL_ANSWER, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { callType, type Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { createDataTool } from '../data-tool.ts';
import type { ToolServices } from '../tool-services.ts';
import { commonOptions, foreignUrl, parseForeignOptions, readVariable, variableName } from './foreign.ts';
import { createForeignTool } from './foreign-tool.ts';

const optionsSchema = z.strictObject({
  ...commonOptions,
  timeout_s: z.number().positive().max(86_400).default(300),
  /** Of its agent card, or of what is above it. */
  url: foreignUrl,
  /** The variable with the token that it wants. */
  token: variableName.exactOptional(),
  /** How its results come; without it by stream where it has that, else by asking again. */
  later: z.enum(['stream', 'poll', 'push']).exactOptional(),
});

/** @throws MeshError `config` */
export const parseA2aOptions = (options: JsonObject) => parseForeignOptions(optionsSchema, options, 'a2a');

/** What is sent to an agent of A2A as a tool; the one name that its calls have. */
export const ASK = 'ask';

const documentSchema = z.looseObject({ question: z.string(), chunks: z.array(z.string()).default([]) });
const replySchema = z.looseObject({
  text: z.string().exactOptional(),
  data: z
    .looseObject({
      artifacts: z.array(z.looseObject({ parts: z.array(z.looseObject({ text: z.string().optional() })) })),
    })
    .optional()
    .catch(undefined),
  error: z.looseObject({ code: z.string(), message: z.string() }).exactOptional(),
});

/**
 * An agent of A2A as a member of a team: others ask it by `a2a.call`, and where the team file subscribes it to `doc_init`, it answers
 * tasks by itself, with the question and the document.
 */
export function createA2aTool({ connectA2a }: Pick<ToolServices, 'connectA2a'>): Tool {
  const asked = createDataTool(
    createForeignTool({
      name: 'a2a',
      description: 'Hands messages on to an agent of A2A, whose card the team file names',
      settings: parseA2aOptions,
      connect({ options, environment, signal }) {
        const { url, token, later, max_bytes: maxMessageBytes } = parseA2aOptions(options);
        const secret = token === undefined ? {} : { token: readVariable(token, environment, 'a2a') };
        return connectA2a(
          { url, maxMessageBytes, ...secret, ...(later === undefined ? {} : { later }) },
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
      const args = { message: question, ...(document === '' ? {} : { document }) };
      const call = {
        ...packet,
        type: callType('a2a'),
        payload: { arguments: { tool: ASK, arguments: args } },
      };
      const [reply] = await asked.run(call, context);
      const { text, data, error } = replySchema.parse(reply?.payload);
      if (text === undefined) throw new MeshError('agent', error?.message ?? 'no answer came');
      // What it found, in words, is the answer; data beside it are for programs.
      const words = (data?.artifacts ?? []).flatMap(({ parts }) => parts.flatMap((part) => part.text ?? []));
      const answer = words.length === 0 ? text : words.join('\n');
      return [{ type: 'answer', payload: { answer: answer.trim() }, tag: FINAL_ANSWER }];
    },
  };
}
