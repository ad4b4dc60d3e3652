/**
 * When a server wants to be asked again, in milliseconds from now: OpenAI's `retry-after-ms`, else `Retry-After` in seconds
 * or as a date (RFC 9110, section 10.2.3). Undefined where it names no time.
 *
 * @param nowMs milliseconds since 1970
 */
export function retryAfterMsOf(headers: Headers, nowMs: number): number | undefined {
  const exact = headers.get('retry-after-ms') ?? '';
  if (/^\d+(\.\d+)?$/.test(exact)) return Number(exact);
  const value = headers.get('Retry-After') ?? '';
  if (value === '') return undefined;
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
