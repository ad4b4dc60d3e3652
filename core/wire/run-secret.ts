import { MeshError } from '../contracts/errors.ts';

/** Environment variable with the secret of a run, for hubs and agents that are started by hand. */
const SECRET_VARIABLE = 'GAIA_MESH_SECRET';
/**
 * Minimum length of a secret: an eavesdropper on one handshake can try secrets offline and would find a short
 * one.
 */
const MIN_SECRET_CHARACTERS = 16;

/**
 * Returns the secret from the environment; empty if there is none.
 *
 * @throws MeshError `usage` for a secret that could be guessed
 */
export function readRunSecret(environment: NodeJS.ProcessEnv): string {
  const secret = environment[SECRET_VARIABLE] ?? '';
  if (secret === '' || secret.length >= MIN_SECRET_CHARACTERS) return secret;
  throw new MeshError(
    'usage',
    `${SECRET_VARIABLE} has ${secret.length} characters: expected at least ${MIN_SECRET_CHARACTERS}, such as those of openssl rand -hex 16`,
  );
}
