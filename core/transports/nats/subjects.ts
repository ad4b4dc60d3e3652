import { randomBytes } from 'node:crypto';
import { MeshError } from '../../contracts/errors.ts';

/**
 * Default subject prefix of agents that were started by hand. The subjects of a run's own agents are below
 * it.
 */
export const DEFAULT_SUBJECT = 'gaia';

const subjectPattern = /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,7}$/;

/** @throws MeshError `usage`: wildcards, spaces and empty parts have another meaning for a server, or none */
export function checkSubject(name: string, subject: string): string {
  if (subjectPattern.test(subject)) return subject;
  throw new MeshError(
    'usage',
    `${name}: expected words of A-Z a-z 0-9 _ - with dots between them, not ${JSON.stringify(subject)}`,
  );
}

/**
 * Escapes an id as a part without dots, wildcards or blanks: everything but letters, digits, `_` and `-`
 * becomes `=` and its code, so that no two ids collide.
 */
function escapeSubjectPart(id: string): string {
  return id.replaceAll(
    /[^A-Za-z0-9_-]/g,
    (character) => `=${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

const TOKEN_BYTES = 16;

/**
 * Returns the subjects of one agent. They share a prefix, so that a server can restrict their use:
 *
 *     <mesh>.<node>.dial            a hub requests a connection here
 *     <mesh>.<node>.hub.<token>     messages of the agent in one connection
 *     <mesh>.<node>.agent.<token>   messages of the hub in it
 *
 * Tokens are fresh and cannot be guessed: a client that cannot listen cannot write into a connection either.
 */
export function nameAgentSubjects(mesh: string, node: string) {
  const prefix = `${mesh}.${escapeSubjectPart(node)}`;
  const ear = (side: string) => `${prefix}.${side}.${randomBytes(TOKEN_BYTES).toString('hex')}`;
  const isEar = (side: string, subject: string) =>
    subject.startsWith(`${prefix}.${side}.`) &&
    /^[0-9a-f]{32}$/.test(subject.slice(prefix.length + side.length + 2));
  return {
    dial: `${prefix}.dial`,
    hubEar: () => ear('hub'),
    agentEar: () => ear('agent'),
    /** Returns true for a subject of this agent, the only kind to which it replies. */
    isHubEar: (subject: string) => isEar('hub', subject),
    isAgentEar: (subject: string) => isEar('agent', subject),
  };
}
