/** Formats the smallest difference that the questions can show, in percentage points: `12.5`; `–` if they can show none. */
export function formatDetectable({ detectable }: { readonly detectable: number }): string {
  return Number.isFinite(detectable) ? (100 * detectable).toFixed(1) : '–';
}
