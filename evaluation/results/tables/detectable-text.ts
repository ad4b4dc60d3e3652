/** Formats the smallest difference that the questions can show, in percentage points: `12.5`; `–` if they can show none. */
export function formatDetectable({ detectable }: { readonly detectable: number | null }): string {
  return detectable === null ? '–' : (100 * detectable).toFixed(1);
}
