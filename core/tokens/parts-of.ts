import type { ChatMessage } from '../contracts/engine.ts';
import type { PromptKind, PromptPart } from '../contracts/prompt-part.ts';

/** What each kind of message is where it does not say it of its parts. */
const KINDS: Readonly<Record<ChatMessage['role'], PromptKind>> = {
  system: 'system',
  user: 'peer',
  assistant: 'history',
  tool: 'tool_result',
};

/** The parts of a message; whoever changed its content has made one part of it. */
export function listParts(message: ChatMessage): readonly PromptPart[] {
  const { role, content } = message;
  const parts = 'parts' in message ? message.parts : undefined;
  const isWhole = parts?.map(({ text }) => text).join('') === content;
  return isWhole && parts !== undefined ? parts : [{ kind: KINDS[role], text: content }];
}
