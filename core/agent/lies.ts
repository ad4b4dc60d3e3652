import { createHash } from 'node:crypto';
import { withClaims } from '../contracts/claims.ts';
import { MeshError } from '../contracts/errors.ts';
import { isJsonObject, type JsonObject, TASK_FAILED } from '../contracts/packet.ts';
import type { Log } from '../system/log.ts';
import { Random } from '../system/random.ts';
import type { AgentOptions } from './session-options.ts';

/** Lies that an agent tells because of `--faults lie=agent@type`. */
interface Lies {
  /** Types of the packets in which it lies. */
  readonly types: readonly string[];
  readonly seed: number;
}

const ONSETS = 'B Br C D Dr F G Gr H K L M N P R S St T Th V W'.split(' ');
const VOWELS = 'a e i o u ai ea oa'.split(' ');
const CODAS = 'l ld m n nd r rk rn s sk th v'.split(' ');

/**
 * Returns the rewrite that makes an agent lie. The agent's log keeps the true payload; the recording has the
 * lie.
 */
export function createLiar(
  lies: Lies,
  { log }: { readonly log: Pick<Log, 'info'> },
): NonNullable<AgentOptions['rewrite']> {
  return (emission, cause) => {
    if (!lies.types.includes(emission.type) || emission.type === TASK_FAILED) return emission;
    const payload = composeLie(emission.payload, cause.payload, lies);
    log.info({ dir: 'lied', task_id: cause.task_id, type: emission.type, instead_of: emission.payload });
    return { ...emission, payload };
  };
}

/**
 * Returns a payload to send instead of `payload`: of the same type and shape, about the same question, with
 * other names and numbers. Only the seed and the replaced text decide, so an agent repeats the same lie.
 *
 * @throws MeshError `usage` for a payload that states nothing
 */
function composeLie(payload: JsonObject, about: JsonObject, { seed }: Lies): JsonObject {
  const question = findQuestion(payload) ?? findQuestion(about) ?? '';
  const lie = withClaims(payload, question, (claim) => inventClaim(claim, seed));
  if (lie !== payload) return lie;
  throw new MeshError(
    'usage',
    `a lie was requested, but this packet has no text to lie in: its fields are ${Object.keys(payload).join(', ') || 'none'}`,
    { setting: 'faults' },
  );
}

function findQuestion({ question, task }: JsonObject): string | undefined {
  if (typeof question === 'string') return question;
  return isJsonObject(task) ? findQuestion(task) : undefined;
}

function inventClaim(claim: string, seed: number): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, claim.toLowerCase()]))
    .digest();
  const random = new Random(digest.readUIntBE(0, 6));
  if (/^\d+$/.test(claim)) return replaceNumber(claim, random);
  return claim
    .split(' ')
    .map((word) => replaceWord(word, random))
    .join(' ');
}

/** Returns another number with the same number of digits and no additional leading zero. */
function replaceNumber(digits: string, random: Random): string {
  const [first = '0', ...rest] = digits;
  const other = rest.map(() => String(random.bits() % 10));
  // Adding 1 to 8 to a digit from 1 to 9 gives another digit from 1 to 9.
  if (first !== '0') return [1 + ((Number(first) - 1 + 1 + (random.bits() % 8)) % 9), ...other].join('');
  return rest.length === 0 ? String(1 + (random.bits() % 9)) : `0${replaceNumber(rest.join(''), random)}`;
}

function replaceWord(word: string, random: Random): string {
  const pick = (from: readonly string[]) => from[random.bits() % from.length] ?? '';
  const made = `${pick(ONSETS)}${pick(VOWELS)}${pick(CODAS)}${word.length > 4 ? `${pick(VOWELS)}${pick(CODAS)}` : ''}`;
  if (word === word.toUpperCase()) return made.toUpperCase();
  return /^\p{Lu}/u.test(word) ? made : made.toLowerCase();
}
