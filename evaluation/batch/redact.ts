/** Shorter values are no keys, and would blacken every other word. */
const MIN_SECRET_CHARACTERS = 8;
const SECRET_NAME = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
/** Keys by their own looks, where they are in no variable of ours: `sk-…`, `hf_…`, `AIza…`, and what follows `Bearer`. */
const KEY_LIKE =
  /\b(?:sk-[\w-]{16,}|hf_\w{16,}|tvly-[\w-]{16,}|AIza[\w-]{30,})|(?<=\bBearer\s)[\w.~+/-]{8,}=*/g;

/** Takes keys out of a text that is written down: the values of secret variables of `environment`, and what looks like one. */
export function createRedactor(
  environment: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  const secrets = Object.entries(environment)
    .filter(([name]) => SECRET_NAME.test(name))
    .flatMap(([, value]) => (value === undefined || value.length < MIN_SECRET_CHARACTERS ? [] : [value]))
    // A secret that begins another must not leave the other's end behind.
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let redacted = text;
    for (const secret of secrets) redacted = redacted.replaceAll(secret, '[redacted]');
    return redacted.replaceAll(KEY_LIKE, '[redacted]');
  };
}
