import { markdownTable } from '../../terminal/markdown-table.ts';
import { count, decimals } from '../../terminal/table.ts';
import type { ComparisonFile } from '../comparison-file.ts';
import type { HttpCosts, HttpRow } from './measure-http.ts';

const HEAD = [
  'adapter',
  'in the mesh',
  'request head',
  'request body',
  'response head',
  'response body',
  'sum',
  'HTTP adds',
  '×',
  'TLS adds',
];

/** Remarks on what was sent, for those adapters that were. */
const REMARKS: ReadonlyMap<string, string> = new Map([
  [
    'a2a',
    'the SDK numbers its requests and asks for no history, which its server would else answer with: the whole message again. In the ' +
      'mesh an answer is an event instead, in a stream that is open.',
  ],
  ['mcp', 'Streamable HTTP of 2026-07-28, whose headers say method, tool and revision again.'],
  [
    'anp',
    'without the authentication of the hop, which ANP asks for as well. It allows no HTTP without TLS; the figures are apart to ' +
      'compare them.',
  ],
]);

/** The section of the results page on the transport that the protocols are made for. Bytes are means over the packets. */
export function httpSection({ packets, rows, unavailable, tls }: HttpCosts, report: ComparisonFile): string {
  const about =
    rows.length === 0
      ? 'None of the compared adapters was measured on HTTP.'
      : `The same ${packets} packets over HTTP/1.1 on the loopback, each as a request of its own on a connection that stays open, ` +
        'answered as the protocol demands. Bytes of a packet, the mean, from the counters of the sockets; × is against the mesh.';
  const missing = unavailable.map(({ adapter, why }) => `- \`${adapter}\` was not measured: ${why}.`);
  const remarks = rows.map(({ adapter, client }) => {
    const remark = REMARKS.get(adapter);
    return `- \`${adapter}\`: ${client}${remark === undefined ? '.' : `; ${remark}`}`;
  });
  return [
    about,
    ...(rows.length === 0 ? [] : [markdownTable([HEAD, ...rows.map((row) => cells(row, packets, report))])]),
    ...(rows.length === 0 ? [] : [tlsText(tls)]),
    [...remarks, ...missing].join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function cells({ adapter, head, body, records }: HttpRow, packets: number, report: ComparisonFile): string[] {
  const line = report.adapters.find((row) => row.adapter === adapter)?.ledger.total;
  const mesh = line === undefined ? null : line.wire / line.packets;
  const sum = (head.up + head.down + body.up + body.down) / packets;
  return [
    adapter,
    mesh === null ? '–' : count(mesh),
    ...[head.up, body.up, head.down, body.down].map((bytes) => count(bytes / packets)),
    count(sum),
    mesh === null ? '–' : count(sum - mesh),
    decimals(mesh === null ? null : sum / mesh, 2),
    records === null ? '–' : count(records / packets),
  ];
}

function tlsText(tls: HttpCosts['tls']): string {
  const heads =
    'The heads are those that `fetch` and the HTTP server of Node write; tokens, cookies and traces would come on top.';
  if (tls === null) {
    return `TLS was not measured: there is no \`openssl\` command here to make a certificate with. ${heads}`;
  }
  const { handshake, certificate } = tls;
  return (
    `TLS 1.3 adds the bytes of its records to each packet, and once to each connection ${count(handshake.up)} bytes from the client ` +
    `and ${count(handshake.down)} from the server: a full handshake as Node makes it, with a self-signed certificate of ` +
    `${count(certificate)} bytes (P-256) and the tickets for the next one. Chains of real certificates are larger. ${heads}`
  );
}
