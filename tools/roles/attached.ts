import * as z from 'zod';

/** The file that belongs to a question, in the payloads of roles. */
export const attachedShape = {
  /** Its name; it is in the task's folder. */
  file: z.string().exactOptional(),
  /** A few lines about it: kind, size, parts, how it begins. Not always known. */
  outline: z.string().exactOptional(),
};

/** Formats the file for a prompt; empty without one. */
export function formatAttached({ file, outline }: z.infer<z.ZodObject<typeof attachedShape>>): string {
  if (file === undefined) return '';
  return outline === undefined ? file : `${file} (${outline})`;
}
