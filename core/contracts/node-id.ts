import { createHash } from 'node:crypto';
import * as z from 'zod';

/** Longest id of a node, in characters: DIDs with a key in them have about 200. */
export const MAX_NODE_ID_LENGTH = 256;

/**
 * Characters of URIs, DIDs, URNs and names like `org/team/agent`; lists and subjects use other separators
 * (`,`, `*`, `>`).
 */
const NODE_ID = /^[A-Za-z0-9][A-Za-z0-9_.:/#?=&%@+-]*$/;

/** Ids that are valid folder names on every file system as they stand. */
const FOLDER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_-])?$/;
const READABLE_LENGTH = 48;
const DIGEST_LENGTH = 16;

/**
 * Id of a node: a short name, or the identity that the agent has elsewhere, such as
 * `did:wba:example.com:alice` (ANP), `urn:agent:example:alice` or `acme/support/triage` (SLIM).
 */
export const nodeIdSchema = z
  .string()
  .max(MAX_NODE_ID_LENGTH, `must have at most ${MAX_NODE_ID_LENGTH} characters`)
  .regex(
    NODE_ID,
    'must begin with a letter or digit and consist of A-Z a-z 0-9 and _ . - : / # ? = & % @ + only',
  );

export function isNodeId(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_NODE_ID_LENGTH && NODE_ID.test(value);
}

/**
 * Returns the name of the folder `workspaces/<name>` of the agent `id`: the id itself if it is a safe name,
 * otherwise its readable part and a digest (the first 64 bits of SHA-256), so that no id leads out of the
 * folder and no two ids share one.
 */
export function toFolderName(id: string): string {
  if (FOLDER_NAME.test(id)) return id;
  const readable = id.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(0, READABLE_LENGTH);
  return `${readable}_${createHash('sha256').update(id).digest('hex').slice(0, DIGEST_LENGTH)}`;
}
