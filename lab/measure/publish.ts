import { type MeasuredPart, machine, writeMeasured } from '../../evaluation/terminal/docs-page.ts';

/** What a command has measured, in each form that somebody may ask for. */
interface Measured {
  readonly report: object;
  readonly text: string;
  readonly part: MeasuredPart;
}

/** Prints it, as one JSON value with the machine or as text, and writes its page if there is one. */
export async function publish(
  { report, text, part }: Measured,
  json: boolean | undefined,
  page: string | undefined,
): Promise<void> {
  console.log(json === true ? JSON.stringify({ machine: machine(), ...report }, null, 2) : text);
  if (page !== undefined) await writeMeasured(page, process.argv.slice(2), part);
}
