import { keyShapes } from '@gaia-mesh/tools/keys.ts';

/** Minimum length of a secret. Shorter values are not keys, and would redact ordinary words. */
const MIN_SECRET_CHARACTERS = 8;
const SECRET_NAME = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
/** Matches keys by their form, since not every key is in a secret variable, and the word after `Bearer`. */
const KEY_LIKE = new RegExp(
  `\\b(?:${keyShapes.map(({ source }) => source).join('|')})|(?<=\\bBearer\\s)[\\w.~+/-]{8,}=*`,
  'g',
);

/**
 * Returns a function that removes keys from a text: the values of secret variables of `environment`, and words that look like
 * keys.
 */
export function createRedactor(
  environment: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  const secrets = Object.entries(environment)
    .filter(([name]) => SECRET_NAME.test(name))
    .flatMap(([, value]) => (value === undefined || value.length < MIN_SECRET_CHARACTERS ? [] : [value]))
    // Replace longer secrets first: a secret that is the prefix of another must not leave the rest of it behind.
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let redacted = text;
    for (const secret of secrets) redacted = redacted.replaceAll(secret, '[redacted]');
    return redacted.replaceAll(KEY_LIKE, '[redacted]');
  };
}
