import { element } from './dom.js';
import { reportParts } from './report.js';

/** @type {import('../report-html.ts').ReportData} */
const data = JSON.parse(document.getElementById('data')?.textContent ?? '');
const { headline, nav, nodes } = reportParts(data);

document.title = `${headline} · Gaia Mesh`;
document
  .getElementById('report')
  ?.append(
    element('header', {}, element('p', { class: 'wordmark' }, 'Gaia Mesh'), element('h1', {}, headline), nav),
    element('main', {}, ...nodes),
    element('footer', {}, `Made by Gaia Mesh ${data.version}. This page is one file and loads nothing.`),
  );
