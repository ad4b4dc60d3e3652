import type { StackArm, StacksComparison } from '../../compare/comparison-file.ts';
import { listCpuColumns } from '../../compare/stacks/figures/stack-columns.ts';
import { formatMarkedRatio, formatName } from '../../compare/verdict-text.ts';
import { toTableView } from '../../terminal/columns.ts';
import { count, formatDecimals } from '../../terminal/table.ts';
import { createTableView } from '../../terminal/table-view.ts';
import {
  bindNumbers,
  formatBytes,
  formatMs,
  formatSignedBytes,
  formatSpan,
  formatRatio as timesText,
} from '../wording.ts';
import { type StackedRow, type StackedView, stackParts } from './stacked-view.ts';

/** Lines of the ledger in the order in which they lie on each other, with their colours. */
const LINES = [
  { line: 'payload', hue: 0, what: 'what the agents say, as compact JSON' },
  { line: 'envelope', hue: 1, what: 'what the protocol puts around it in the message' },
  { line: 'head', hue: 3, what: 'heads of HTTP, frames, lengths' },
  { line: 'tls', hue: 4, what: 'records of TLS' },
] as const;
type Line = (typeof LINES)[number]['line'];

/** Bytes of an exchange by what they are for, every arm in the order in which it was asked for. */
export function buildBytesView(file: StacksComparison): StackedView {
  const { arms } = file;
  const there = LINES.filter(({ line }) => arms.some((arm) => computePerExchange(arm, line) !== 0));
  const rowsOf = (lines: readonly (typeof LINES)[number][], isNet: boolean) =>
    arms.map((arm): StackedRow => {
      const whole = arm.bytes.per_exchange - (isNet ? computePerExchange(arm, 'payload') : 0);
      const mark = arm.bytes.is_repeatable ? '' : '~';
      const text = isNet
        ? `${formatSignedBytes(whole)}${mark}`
        : `${formatBytes(whole)}${mark} · ${timesText(arm.vs_baseline?.bytes.ratio ?? 1)}`;
      const parts = lines.map(({ line, hue }) => {
        const value = computePerExchange(arm, line);
        return {
          name: line,
          hue,
          value,
          title: `${formatName(arm.name)}: ${line} ${formatSignedBytes(value)}`,
        };
      });
      return { label: formatName(arm.name), text, end: whole, parts: stackParts(parts, 'sum') };
    });
  const beyond = there.filter(({ line }) => line !== 'payload');
  const vary = arms.some(({ bytes }) => !bytes.is_repeatable);
  return {
    finding: describeBytes(file),
    key: there.map(({ line, hue, what }) => ({ hue, name: line, what })),
    choices: [
      {
        name: 'beyond the payload',
        axis: 'bytes an exchange beyond the payload',
        rows: rowsOf(beyond, true),
      },
      { name: 'all bytes', axis: 'bytes an exchange', rows: rowsOf(there, false) },
    ],
    scale: 'sum',
    caption:
      'Means over one pass through the exchanges that have an answer, both directions, on a session that is in use. The mark is the whole; ' +
      'what a protocol writes shorter than compact JSON runs to the left of 0. Every byte is on one line, and the lines add up to the counters of ' +
      `the sockets or pipes, at both ends.${vary ? ' ~: not the same in each pass.' : ''}`,
    table: createTableView(
      ['', '#B an exchange', '#×', ...LINES.map(({ line }) => `#${line}`), '#one way'],
      arms.map((arm) => [
        formatName(arm.name),
        count(arm.bytes.per_exchange) + (arm.bytes.is_repeatable ? '' : '~'),
        formatDecimals(arm.vs_baseline?.bytes.ratio ?? 1, 2),
        ...LINES.map(({ line }) => count(computePerExchange(arm, line))),
        arm.bytes.one_way === null ? '–' : count(arm.bytes.one_way.per_exchange),
      ]),
    ),
  };
}

function computePerExchange({ bytes: { sent, received, exchanges } }: StackArm, line: Line): number {
  return (sent[line] + received[line]) / exchanges;
}

/** Bytes are exact, so they may be ranked; those that are equal are not. */
function describeBytes({ arms, baseline }: StacksComparison): string {
  const ratios = arms.flatMap(({ name, vs_baseline }) =>
    vs_baseline === null ? [] : [{ name: formatName(name), ratio: vs_baseline.bytes.ratio }],
  );
  const least = Math.min(...ratios.map(({ ratio }) => ratio));
  const most = Math.max(...ratios.map(({ ratio }) => ratio));
  const named = (wanted: number) => {
    const names = ratios.filter(({ ratio }) => ratio === wanted).map(({ name }) => name);
    return names.length > 2 ? `${names.length} stacks` : names.join(' and ');
  };
  const than = `the bytes of ${formatName(baseline)}`;
  if (ratios.length === 0) return `Bytes of an exchange of ${formatName(baseline)}`;
  if (least === most) return `An exchange takes ${timesText(most)} ${than} with ${named(most)}`;
  return `An exchange takes ${timesText(least)} (${named(least)}) to ${timesText(most)} (${named(most)}) ${than}`;
}

/** Cost before the first exchange: bytes are drawn, the rest are figures. */
export function buildSetupView({ arms }: StacksComparison): StackedView {
  const rows = arms.map(({ name, setup }): StackedRow => {
    const end = setup.sent_bytes + setup.received_bytes;
    const label = formatName(name);
    const parts = stackParts(
      [
        {
          name: 'sent',
          hue: 1,
          value: setup.sent_bytes,
          title: `${label}: sent ${formatBytes(setup.sent_bytes)}`,
        },
        {
          name: 'received',
          hue: 6,
          value: setup.received_bytes,
          title: `${label}: received ${formatBytes(setup.received_bytes)}`,
        },
      ],
      'sum',
    );
    return { label, text: `${formatBytes(end)} · ${formatMs(setup.ms)}`, end, parts };
  });
  const times = arms.map(({ setup }) => setup.round_trips_at_most);
  return {
    finding: bindNumbers(
      `A session takes ${formatSpan(rows.map(({ end }) => end))} B before its first exchange, in ${formatSpan(times)} round trips at most`,
    ),
    key: [
      { hue: 1, name: 'sent', what: 'by the client' },
      { hue: 6, name: 'received', what: 'from the server' },
    ],
    choices: [{ name: 'bytes', axis: 'bytes of the set-up', rows }],
    scale: 'sum',
    caption:
      'Agent card, versions, tools, handshakes: everything before a session is ready, and no part of any other figure. Times are of a process that ' +
      'sets up its first session: its code is cold. “Paid back” is the exchange after which a set-up that takes more than the baseline’s has paid for ' +
      'itself, in bytes and in time; never where exchanges take more as well.',
    table: createTableView(
      [
        '',
        '#sent B',
        '#received B',
        '#messages',
        '#connections',
        '#round trips ≤',
        '#ms',
        '#least ms',
        '#most ms',
        '#paid back B',
        '#paid back ms',
      ],
      arms.map(({ name, setup, samples_us, vs_baseline }) => [
        formatName(name),
        count(setup.sent_bytes),
        count(setup.received_bytes),
        count(setup.messages),
        count(setup.connections),
        count(setup.round_trips_at_most),
        formatDecimals(setup.ms, 1),
        formatDecimals(Math.min(...samples_us.first.flat()) / 1000, 1),
        formatDecimals(Math.max(...samples_us.first.flat()) / 1000, 1),
        ...[setup.paid_back_bytes, setup.paid_back_time].map((exchanges) =>
          vs_baseline === null ? '–' : exchanges === null ? 'never' : count(exchanges),
        ),
      ]),
    ),
  };
}

/** CPU time of each side, one exchange at a time. */
export function buildCpuView(file: StacksComparison): StackedView {
  const rows = file.arms.map(({ name, cpu: { client, server }, vs_baseline: vs }): StackedRow => {
    const label = formatName(name);
    const values = [
      { name: 'client, user', hue: 1, value: client.user },
      { name: 'client, system', hue: 6, value: client.system },
      { name: 'server, user', hue: 3, value: server.user },
      { name: 'server, system', hue: 7, value: server.system },
    ];
    const end = values.reduce((sum, { value }) => sum + value, 0);
    const titled = values.map((one) => ({ ...one, title: `${label}: ${one.name} ${count(one.value)} µs` }));
    const ratio = vs === null ? '1.00×' : vs.cpu === null ? '–' : `${formatTimes(formatMarkedRatio(vs.cpu))}`;
    return { label, text: `${count(end)} µs · ${ratio}`, end, parts: stackParts(titled, 'sum') };
  });
  const sums = rows.map(({ end }) => end);
  return {
    finding: bindNumbers(`An exchange takes ${formatSpan(sums)} µs of CPU time, of both sides together`),
    key: [
      { hue: 1, name: 'client, user', what: '' },
      { hue: 6, name: 'client, system', what: '' },
      { hue: 3, name: 'server, user', what: '' },
      { hue: 7, name: 'server, system', what: '' },
    ],
    choices: [{ name: 'CPU time', axis: 'µs of CPU time an exchange', rows }],
    scale: 'sum',
    caption:
      'CPU time of the whole process of each side, when one exchange begins as the one before ends: medians over rounds. It includes what asks and ' +
      'what answers, which is the same for all. Behind the ratio, = is equal within the margin and ? cannot be told.',
    table: toTableView(listCpuColumns(file), file.arms),
  };
}

function formatTimes(text: string): string {
  return text === '–' ? text : text.replace(/[=?]?$/, (mark) => `×${mark}`);
}
