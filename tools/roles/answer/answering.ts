import { converse } from '../conversation/conversation.ts';
import type { ReplyForm } from '../conversation/react-loop.ts';
import type { RoleWork } from '../role-work.ts';
import type { Answered } from './answered.ts';

/** Answers in a loop with the tools of the role that begins with prompt `prompt`. */
export async function answering(
  work: RoleWork,
  prompt: string,
  variables: Readonly<Record<string, string>>,
  form: ReplyForm = {},
): Promise<Answered> {
  const { text, ended, confidence } = await converse(work, prompt, variables, form);
  return { text, ended, ...(confidence === undefined ? {} : { confidence }) };
}
