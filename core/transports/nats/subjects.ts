import { randomBytes } from 'node:crypto';
import { MeshError } from '../../contracts/errors.ts';

/** Where agents that were started by hand are asked for, unless it is said otherwise. Those of a run are below it. */
export const DEFAULT_SUBJECT = 'gaia';

const subjectPattern = /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,7}$/;

/** @throws MeshError `usage`: wildcards, spaces and empty parts mean something else to a server, or nothing */
export function checkSubject(name: string, subject: string): string {
  if (subjectPattern.test(subject)) return subject;
  throw new MeshError(
    'usage',
    `${name}: expected words of A-Z a-z 0-9 _ - with dots between them, not ${JSON.stringify(subject)}`,
  );
}

/** A part has no dot, wildcard or blank: all but letters, digits, `_` and `-` become `=` and their code, so that no two ids become one. */
function escapeSubjectPart(id: string): string {
  return id.replaceAll(
    /[^A-Za-z0-9_-]/g,
    (character) => `=${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

/**
 * Subjects of one agent. All begin alike, so that a server can be told who may use which:
 *
 *     <mesh>.<node>.dial            a hub asks for a connection here
 *     <mesh>.<node>.hub.<token>     what the agent says in one connection
 *     <mesh>.<node>.agent.<token>   what the hub says in it
 *
 * Tokens are fresh and cannot be guessed: who cannot listen in cannot write into a connection either.
 */
export interface AgentSubjects {
  readonly dial: string;
  hubEar(): string;
  agentEar(): string;
  /** Whether it is one of this agent's: nobody is answered anywhere else. */
  isHubEar(subject: string): boolean;
  isAgentEar(subject: string): boolean;
}

const TOKEN_BYTES = 16;

export function nameAgentSubjects(mesh: string, node: string): AgentSubjects {
  const prefix = `${mesh}.${escapeSubjectPart(node)}`;
  const ear = (side: string) => `${prefix}.${side}.${randomBytes(TOKEN_BYTES).toString('hex')}`;
  const isEar = (side: string, subject: string) =>
    subject.startsWith(`${prefix}.${side}.`) &&
    /^[0-9a-f]{32}$/.test(subject.slice(prefix.length + side.length + 2));
  return {
    dial: `${prefix}.dial`,
    hubEar: () => ear('hub'),
    agentEar: () => ear('agent'),
    isHubEar: (subject) => isEar('hub', subject),
    isAgentEar: (subject) => isEar('agent', subject),
  };
}
