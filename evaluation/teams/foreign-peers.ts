import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { ForeignAgent, type ForeignAgentEndpoint } from '@gaia-mesh/stacks/a2a/foreign/foreign-agent.ts';
import { ASK } from '@gaia-mesh/tools/foreign/a2a.ts';
import type { ForeignPeer } from '@gaia-mesh/tools/foreign/foreign.ts';
import * as z from 'zod';

const DONE: ReadonlySet<string> = new Set(['TASK_STATE_COMPLETED', 'MESSAGE']);

const askSchema = z.strictObject({
  message: z.string().min(1).describe('What to say to it, in words'),
  document: z.string().exactOptional().describe('A text that this is about'),
  task_id: z.string().min(1).exactOptional().describe('Of a task that waits for an answer'),
  context_id: z.string().min(1).exactOptional().describe('Of a conversation that goes on'),
});

const MAX_DESCRIPTION = 4000;
const FAILED: ReadonlySet<string> = new Set([
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
]);

/** Adapts an A2A agent to the interface of tools. */
export async function connectA2a(endpoint: ForeignAgentEndpoint, signal: AbortSignal): Promise<ForeignPeer> {
  const agent = await ForeignAgent.connect(endpoint, signal);
  const { name, description, skills } = agent.card;
  const can = skills.map((skill) => `${skill.name}: ${skill.description}`).join('\n');
  const said = `Asks the agent ${name}. ${description}\n${can}`.toWellFormed().slice(0, MAX_DESCRIPTION);
  const inputSchema = z.record(z.string(), z.json()).parse(z.toJSONSchema(askSchema));
  return {
    name,
    tools: [{ name: ASK, description: said, inputSchema }],
    refused: [],
    async call(_tool, args, { signal: aborted, timeoutMs, traceparent }) {
      const { success, data, error } = askSchema.safeParse(args);
      if (!success) throw new MeshError('tool', `arguments: ${formatIssues(error)}`);
      const { message, document, task_id: taskId, context_id: contextId } = data;
      // The text gets a file name; agents that take no files still read it as text.
      const file =
        document === undefined ? [] : [{ text: document, filename: 'document.txt', mediaType: 'text/plain' }];
      const both = AbortSignal.any([aborted, AbortSignal.timeout(timeoutMs)]);
      const parts = [{ text: message }, ...file];
      const result = await agent.ask({ parts, taskId, contextId, traceparent }, both);
      const { texts, images, state, lost, progress } = result;
      const said = texts.some((text) => text.trim() !== '') || images.length > 0;
      const isEmpty = !said && DONE.has(state);
      const before: string[] = FAILED.has(state) ? [`${name}: ${state}`] : [];
      if (state === 'TASK_STATE_INPUT_REQUIRED')
        before.push(`It asks back; say so with task_id ${result.data.task_id}:`);
      if (isEmpty)
        before.push(
          `${name}: ${state} without words${progress === '' ? '' : `; it last said, as progress: ${progress}`}`,
        );
      return {
        texts: [...before, ...texts],
        images,
        data: result.data,
        isError: FAILED.has(state) || isEmpty,
        lost,
      };
    },
    close: () => agent.close(),
  };
}
