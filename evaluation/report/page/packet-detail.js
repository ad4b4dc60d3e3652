import { element, numberText } from './dom.js';

/** @typedef {import('../run/packet-view.ts').PacketView} PacketView */

/** Bytes of a line of the dump: as many as fit without scrolling. */
const WIDE = 16;
const SMALL = 8;

/**
 * A packet, decoded and as bytes.
 *
 * @param {PacketView} packet
 * @param {string} writtenWith
 */
export function packetDetail(packet, writtenWith) {
  const { cause, toolMs, waterfall, json, jsonLeft } = packet;
  const because = cause === null ? 'it opens the task' : `because of packet ${cause}`;
  const tool =
    toolMs !== null && toolMs > 0 ? `, ${numberText(Math.round(toolMs * 100) / 100)} ms in its tool` : '';
  const parts = (waterfall?.steps ?? []).map(({ text }) => `${text.replace(' +', ' ').replace(' −', ' −')}`);
  return element(
    'div',
    { class: 'detail' },
    element('p', { class: 'facts' }, `Packet ${packet.id}, ${because}${tool}.`),
    waterfall === null
      ? null
      : element('p', { class: 'facts' }, `${numberText(waterfall.wire)} B on the wire: ${parts.join(' · ')}`),
    element(
      'div',
      { class: 'views' },
      view('json', 'Decoded', json, jsonLeft === 0 ? '' : `… and ${numberText(jsonLeft)} more characters`),
      hexView(packet, writtenWith),
    ),
  );
}

/**
 * @param {PacketView} packet
 * @param {string} writtenWith
 */
function hexView({ blob }, writtenWith) {
  if ('fault' in blob) return view('hex', 'Bytes', '', `No bytes: ${blob.fault}`);
  const dump = hexDump(bytesOfBase64(blob.base64), matchMedia('(width >= 44rem)').matches ? WIDE : SMALL);
  const title = `${numberText(blob.bytes)} bytes of ${writtenWith}`;
  return view('hex', title, dump, blob.left === 0 ? '' : `… and ${numberText(blob.left)} more bytes`);
}

/**
 * @param {string} kind
 * @param {string} title
 * @param {string} text
 * @param {string} rest
 */
function view(kind, title, text, rest) {
  return element(
    'section',
    { 'aria-label': title },
    element('h4', {}, title),
    text === '' ? null : element('pre', { class: kind, tabindex: '0' }, text),
    rest === '' ? null : element('p', { class: 'facts' }, rest),
  );
}

/**
 * Bytes as a hex dump: offset, bytes, and what of them are characters.
 *
 * @param {Uint8Array} bytes
 * @param {number} perLine
 */
function hexDump(bytes, perLine) {
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
function bytesOfBase64(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
