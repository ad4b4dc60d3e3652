import * as z from 'zod';

/** The file that belongs to a question, as roles hand it to one another. */
export const attachedShape = {
  /** Its name; it lies in the task's folder. */
  file: z.string().exactOptional(),
  /** What it is, in a few lines: kind, size, parts, how it begins. Not always known. */
  outline: z.string().exactOptional(),
};

interface Attached {
  readonly file?: string;
  readonly outline?: string;
}

/** What goes into a payload. */
export function toAttached({ file, outline }: Attached): Attached {
  return { ...(file === undefined ? {} : { file }), ...(outline === undefined ? {} : { outline }) };
}

/** As a prompt has it; empty without a file. */
export function formatAttached({ file, outline }: Attached): string {
  if (file === undefined) return '';
  return outline === undefined ? file : `${file} (${outline})`;
}
