// 32-bit FNV-1a for words and a cheap mixer for pairs: features are named by numbers, never by joined strings. Hashes
// are signed 32-bit integers: V8 keeps those unboxed, whereas half of the unsigned ones would each be an object.

export function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash | 0;
}

export function mix(left: number, right: number): number {
  let hash = Math.imul(left ^ (right + 0x9e3779b9 + (left << 6) + (left >>> 2)), 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 13);
}
