import * as z from 'zod';

/** The file that belongs to a question, in the payloads of roles. */
export const attachedShape = {
  /** Its name; it is in the task's folder. */
  file: z.string().exactOptional(),
  /** A few lines about it: kind, size, parts, how it begins. Not always known. */
  outline: z.string().exactOptional(),
};

interface Attached {
  readonly file?: string | undefined;
  readonly outline?: string | undefined;
}

/** Returns the file's fields for a payload, in which an absent one has no key. */
export function toAttached({ file, outline }: Attached): z.infer<z.ZodObject<typeof attachedShape>> {
  const attached: z.infer<z.ZodObject<typeof attachedShape>> = {};
  if (file !== undefined) attached.file = file;
  if (outline !== undefined) attached.outline = outline;
  return attached;
}

/** Formats the file for a prompt; empty without one. */
export function formatAttached({ file, outline }: Attached): string {
  if (file === undefined) return '';
  return outline === undefined ? file : `${file} (${outline})`;
}
