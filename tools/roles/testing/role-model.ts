import { onTestFinished } from 'vitest';
import {
  type ModelServerRequest,
  type ScriptedReply,
  startModelServer,
} from '../../fixtures/model-server.ts';

/** The beginning of each shipped prompt's system message. */
const OPENINGS = {
  search: 'You search a document',
  extract: 'You pick sentences',
  triple: 'You state facts as triples',
  reason: 'Your task: reason final',
  route: 'You decide who works',
  web: 'You are the web specialist',
  code: 'You are the code specialist',
  file: 'You are the file specialist',
  math: 'You are the math specialist',
  react: 'You answer a question by reasoning and acting',
  alone: 'You answer a question on your own',
  plan: 'You plan how',
  execute: 'You carry out a plan',
  diagnose: 'An attempt at a question went wrong',
  abstract: 'You turn the diagnosis',
  research: 'You find out what one step',
  expert: 'You answer a question from facts',
  critique: 'You judge the work of one role',
  finalize: 'You write the final answer',
} as const;
type RoleName = keyof typeof OPENINGS;

/** The replies of a role's model: a list whose last one is repeated forever, or a function of the request. */
export type RoleReplies =
  | readonly ScriptedReply[]
  | ((request: ModelServerRequest, nth: number) => ScriptedReply | Promise<ScriptedReply>);

/**
 * Starts a scripted model that distinguishes the roles of a team by their prompts. A role without replies must not be asked: the
 * request then fails. It is closed when the test is over.
 */
export async function startRoleModel(replies: Partial<Record<RoleName, RoleReplies>>) {
  const asked = new Map<RoleName, ModelServerRequest[]>();
  const server = await startModelServer((request) => {
    const role = roleOf(request);
    const requests = asked.get(role) ?? [];
    asked.set(role, [...requests, request]);
    const script = replies[role];
    if (script === undefined) throw new Error(`the ${role} role must not be asked`);
    if (typeof script === 'function') return script(request, requests.length);
    return script[Math.min(requests.length, script.length - 1)] ?? {};
  });
  onTestFinished(() => server.close());
  return {
    url: server.url,
    requests: server.requests,
    invalid: server.invalid,
    /** Returns the requests of one role, in order. */
    asked: (role: RoleName): readonly ModelServerRequest[] => asked.get(role) ?? [],
    /** Returns the roles in the order in which they were asked. */
    order: () => server.requests.map(roleOf),
  };
}

function roleOf({ messages }: ModelServerRequest): RoleName {
  const system = messages[0]?.content ?? '';
  for (const [role, opening] of Object.entries(OPENINGS)) {
    if (system.startsWith(opening) && isRole(role)) return role;
  }
  throw new Error(`no role begins its prompt with ${system.slice(0, 60)}`);
}

function isRole(name: string): name is RoleName {
  return Object.hasOwn(OPENINGS, name);
}

/** Returns all texts of a request, to check for what it must or must not contain. */
export function textOf(request: ModelServerRequest | undefined): string {
  return request === undefined ? '' : request.messages.map(({ content }) => content).join('\n\n');
}

/** Returns a reply that calls one tool, with its reason. */
export function calls(name: string, args: Readonly<Record<string, string>>, content = ''): ScriptedReply {
  return { content, toolCalls: [{ name, arguments: { reason: `to use ${name}`, ...args } }] };
}

export const says = (content: string): ScriptedReply => ({ content });
