/**
 * Ports that `fetch` refuses to connect to because other protocols use them (the "bad ports" of the Fetch standard,
 * https://fetch.spec.whatwg.org/#port-blocking, as Node has them). Its own error is only `fetch failed`.
 */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Returns the reason why no request can go to `url`, with a remedy; undefined if its port is allowed. */
export function explainBlockedPort({ port, host }: URL): string | undefined {
  if (!BLOCKED_PORTS.has(Number(port))) return undefined;
  return (
    `expected a port that HTTP requests may go to; ${host} has port ${port}, which is another protocol's, and ` +
    'Node’s fetch refuses it (Fetch standard, port blocking): choose another port for the server, such as 8080'
  );
}
