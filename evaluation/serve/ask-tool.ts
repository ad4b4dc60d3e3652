import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import type { McpTool, ToolResult } from '@gaia-mesh/stacks/mcp/tools.ts';
import { answerSchema, askSchema, formatProgress } from './ask.ts';
import type { ServedTeam } from './served-team.ts';

/** The team as the one tool of an MCP server. */
export function askTool(served: Pick<ServedTeam, 'ask' | 'name'>, description: string): McpTool {
  return {
    name: 'ask',
    description,
    inputSchema: askSchema,
    outputSchema: answerSchema,
    async call(args, { signal, progress }) {
      const { success, data, error } = askSchema.safeParse(args);
      if (!success) return createFailure(`arguments: ${formatIssues(error)}`);
      // Progress is told in order, and a client that takes none of it holds up nobody but itself.
      let told = Promise.resolve();
      try {
        const answer = await served.ask(data, signal, (news) => {
          told = told
            .then(() => progress(news.packets, undefined, formatProgress(news)))
            .catch(() => undefined);
        });
        await told;
        if (answer.status !== 'answered')
          return {
            ...createFailure(`${answer.status}: ${answer.reason ?? 'no answer'}`),
            structuredContent: answer,
          };
        return { content: [{ type: 'text', text: answer.answer ?? '' }], structuredContent: answer };
      } catch (cause) {
        return createFailure(shortenReason(toErrorMessage(cause)));
      }
    },
  };
}

function createFailure(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
