/** @param {import('../../watch-html.ts').WatchPlace} given */
export function folderPage(given) {
  document.title = given.title;
}
