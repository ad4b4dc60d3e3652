import { element } from '../dom.js';

/**
 * Renders the command that repeats the measurement, and a download of all measured data.
 *
 * @param {{ readonly command: string | null, readonly file: object }} view
 * @param {string} name of the file
 * /
 */
export function measureAgain({ command, file }, name) {
  const lead =
    command === null
      ? 'The file does not say which command made it. All that was measured is in it: '
      : 'Measure it yourself with the command below, on a machine of yours. All that was measured is here, single rounds and samples too: ';
  return [
    element('p', { class: 'lead' }, lead, downloadLink(file, name)),
    command === null
      ? null
      : element('pre', { class: 'command', tabindex: '0' }, element('code', {}, command)),
  ];
}

/**
 * A link that saves the measured file as it was written. It is made when it is asked for: a page that nobody takes anything from keeps
 * it once.
 *
 * @param {object} file
 * @param {string} name
 */
function downloadLink(file, name) {
  const link = element('a', { href: `#${name}`, download: name }, `save ${name}`);
  link.addEventListener('click', () => {
    const blob = new Blob([`${JSON.stringify(file, null, 2)}\n`], { type: 'application/json' });
    link.href = URL.createObjectURL(blob);
    // Behind the download, which reads it.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  });
  return link;
}
