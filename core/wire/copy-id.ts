/**
 * Copies of an agent share its work. The first has the agent's own id, as `2`; the others are `2~2`, `2~3`, … No other id has a `~`,
 * so an id alone says whose copy it is.
 */
const COPY_MARK = '~';

/** The id that all copies of an agent are addressed by; of other agents their own. */
export function sharedId(id: string): string {
  const end = id.indexOf(COPY_MARK);
  return end === -1 ? id : id.slice(0, end);
}

/** The ids of `count` copies of the agent `id`. */
export function copyIds(id: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? id : `${id}${COPY_MARK}${index + 1}`));
}
