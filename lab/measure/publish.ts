import {
  describeMachine,
  type MeasuredPart,
  resolvePage,
  writeMeasured,
} from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';

/** The figures of a command in all output forms. */
interface Measured {
  readonly report: object;
  readonly text: string;
  readonly part: MeasuredPart;
}

/**
 * Returns a function that prints the figures, as one JSON value with the machine or as text, and with `--write` puts
 * them into `page`. Create it before measuring, so that a missing page fails early.
 *
 * @throws MeshError as {@link resolvePage} does
 */
export function createPublisher(
  page: string,
  { json, write }: { readonly json: boolean; readonly write: boolean },
): (measured: Measured) => Promise<void> {
  const file = write ? resolvePage(page) : undefined;
  return async ({ report, text, part }) => {
    if (json) printJson({ machine: describeMachine(), ...report });
    else printText(`${text}\n`);
    if (file !== undefined) await writeMeasured(file, part);
  };
}
