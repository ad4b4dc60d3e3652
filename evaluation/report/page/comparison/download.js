import { element } from '../dom.js';

/**
 * A link that saves the measured file as it was written. It is made when it is asked for: a page that nobody takes anything from keeps
 * it once.
 *
 * @param {object} file
 * @param {string} name
 */
export function downloadLink(file, name) {
  const link = element('a', { href: `#${name}`, download: name }, `save ${name}`);
  link.addEventListener('click', () => {
    const blob = new Blob([`${JSON.stringify(file, null, 2)}\n`], { type: 'application/json' });
    link.href = URL.createObjectURL(blob);
    // Behind the download, which reads it.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  });
  return link;
}
