import canonicalize from 'canonicalize';
import { messageOf } from '../../core/errors.ts';
import { notAPacket } from '../head.ts';

/**
 * The one text of a JSON value that signatures and ciphers are made over (RFC 8785, JSON Canonicalization Scheme).
 *
 * @throws MeshError `packet` for what has no such text, such as a lone surrogate
 */
export function jcs(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (error) {
    throw notAPacket(messageOf(error), error);
  }
  if (text === undefined) throw notAPacket('a value that JSON cannot hold');
  return text;
}
