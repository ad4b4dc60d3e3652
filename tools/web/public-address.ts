import net from 'node:net';

/** IPv4 networks that are not public: IANA's special-purpose registry, multicast, and reserved ones. */
const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local, with the metadata services of clouds.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Exceptions in 2000::/3, which holds all global IPv6 addresses: protocol assignments (such as Teredo), documentation, 6to4. */
const PRIVATE_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const privateV4 = createBlockList(PRIVATE_V4, 'ipv4');
const privateV6 = createBlockList(PRIVATE_V6, 'ipv6');
const globalV6 = createBlockList([['2000::', 3]], 'ipv6');

/**
 * Returns true if an IP address belongs to the public internet: not loopback, private, link-local, shared, multicast or reserved. An
 * IPv6 address that carries an IPv4 one (mapped, or NAT64 as on networks without IPv4) is judged by that one. Anything but an
 * address is not public.
 */
export function isPublicAddress(address: string): boolean {
  switch (net.isIP(address)) {
    case 4:
      return !privateV4.check(address, 'ipv4');
    case 6: {
      // A zone names an interface of this machine.
      if (address.includes('%')) return false;
      const words = parseIpv6Words(address);
      const carried = findCarriedV4(words);
      if (carried !== undefined) return isPublicAddress(carried);
      return globalV6.check(address, 'ipv6') && !privateV6.check(address, 'ipv6');
    }
    default:
      return false;
  }
}

/** Returns the IPv4 address inside one of `::ffff:0:0/96` and `64:ff9b::/96`. */
function findCarriedV4(words: readonly number[]): string | undefined {
  const head = words.slice(0, 6).join();
  if (head !== [0, 0, 0, 0, 0, 0xffff].join() && head !== [0x64, 0xff9b, 0, 0, 0, 0].join()) return undefined;
  return words
    .slice(6)
    .flatMap((word) => [word >> 8, word & 0xff])
    .join('.');
}

/** Parses the eight words of an IPv6 address in any spelling. */
function parseIpv6Words(address: string): number[] {
  // The URL parser normalises all spellings to one, without an IPv4 part.
  const [left = '', right] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const words = (part: string) =>
    part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16));
  const [head, tail] = [words(left), words(right ?? '')];
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function createBlockList(
  subnets: readonly (readonly [string, number])[],
  family: 'ipv4' | 'ipv6',
): net.BlockList {
  const list = new net.BlockList();
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, family);
  return list;
}
