import type { ChatMessage } from '../contracts/engine.ts';
import type { PromptKind, PromptPart } from '../contracts/prompt-part.ts';

/** Kind of each message whose parts are unknown, by its role. */
const KINDS: Readonly<Record<ChatMessage['role'], PromptKind>> = {
  system: 'system',
  user: 'peer',
  assistant: 'history',
  tool: 'tool_result',
};

/**
 * Returns the parts of a message; a message whose content no longer matches its parts counts as a single
 * part.
 */
export function listParts(message: ChatMessage): readonly PromptPart[] {
  const { role, content } = message;
  const parts = 'parts' in message ? message.parts : undefined;
  const isWhole = parts?.map(({ text }) => text).join('') === content;
  return isWhole && parts !== undefined ? parts : [{ kind: KINDS[role], text: content }];
}
