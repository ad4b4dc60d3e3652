import { folderPage } from './folder-page.js';
import { runPage } from './run-page.js';

/** @type {import('../../watch-html.ts').RunPlace | import('../../watch-html.ts').FolderPlace} */
const given = JSON.parse(document.getElementById('data')?.textContent ?? '');
if (given.kind === 'folder') folderPage(given);
else runPage(given);
