/**
 * Bytes as a hex dump: offset, bytes, and what of them are characters.
 *
 * @param {Uint8Array} bytes
 * @param {number} perLine
 */
export function hexDump(bytes, perLine) {
  const lines = [];
  for (let offset = 0; offset < bytes.length; offset += perLine) {
    const part = [...bytes.subarray(offset, offset + perLine)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '·')).join('');
    lines.push(`${offset.toString(16).padStart(4, '0')}  ${hex.padEnd(perLine * 3)} ${text}`);
  }
  return lines.join('\n');
}

/** @param {string} base64 */
export function bytesOfBase64(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
