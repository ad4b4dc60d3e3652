import { writeFileSync } from 'node:fs';
import { deliveryPage, deliveryRows, timeLines } from '../delivery/delivery-page.ts';
import { measureDelivery } from '../delivery/measure-delivery.ts';
import { docsPage, shownRevision } from '../docs-page.ts';
import { machine } from '../perf/results-page.ts';
import { table } from '../terminal/table.ts';

export interface DeliveryOptions {
  readonly rounds: number;
  readonly tasks: number;
  readonly json?: boolean;
  readonly write?: boolean;
}

/** Measures what acknowledged delivery costs beside the default, in bytes and time. */
export async function delivery(options: DeliveryOptions): Promise<void> {
  const page = options.write ? docsPage('delivery.md') : undefined;
  const figures = await measureDelivery(options.rounds, options.tasks);
  if (options.json) process.stdout.write(`${JSON.stringify({ machine: machine(), ...figures }, null, 2)}\n`);
  else console.log(`${table(deliveryRows(figures))}\n\n${timeLines(figures)}`);
  if (page === undefined) return;
  writeFileSync(page, deliveryPage(figures, await shownRevision()));
  console.error(`written: ${page}`);
}
