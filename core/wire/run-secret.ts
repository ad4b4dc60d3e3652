import { MeshError } from '../contracts/errors.ts';

/** The secret of a run, for hubs and agents that are started by hand. */
const SECRET_VARIABLE = 'GAIA_MESH_SECRET';
/** Whoever has heard one handshake can try secrets at leisure: a short one would be found. */
const MIN_SECRET_CHARACTERS = 16;

/**
 * The secret that the environment names; empty where it names none.
 *
 * @throws MeshError `usage` for one that could be guessed
 */
export function readRunSecret(environment: NodeJS.ProcessEnv): string {
  const secret = environment[SECRET_VARIABLE] ?? '';
  if (secret === '' || secret.length >= MIN_SECRET_CHARACTERS) return secret;
  throw new MeshError(
    'usage',
    `${SECRET_VARIABLE} has ${secret.length} characters: expected at least ${MIN_SECRET_CHARACTERS}, such as those of openssl rand -hex 16`,
  );
}
