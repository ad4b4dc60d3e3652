// Writes what generated pages repeat of the code and its tests: npm run docs
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { listMeasuredPages, markAge } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatMetricsPage } from './metrics-page.ts';
import { fillRequirementsPage } from './requirements-page.ts';

writeFileSync(path.join(codeFolder, 'docs', 'metrics.md'), formatMetricsPage());

for (const [name, { subject }] of listMeasuredPages()) {
  const file = path.join(codeFolder, name);
  writeFileSync(file, markAge(name, readFileSync(file, 'utf8'), subject));
}

const requirementsFile = path.join(codeFolder, 'lab', 'docs', 'requirements.md');
const { page, requirements, open } = fillRequirementsPage(codeFolder, readFileSync(requirementsFile, 'utf8'));
writeFileSync(requirementsFile, page);
console.error(`${requirements - open.length} of ${requirements} requirements are held by a test`);
if (open.length > 0) console.error(`without: ${open.join(', ')}`);
