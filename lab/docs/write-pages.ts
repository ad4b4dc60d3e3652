// Writes what the pages of docs/ repeat of the code and its tests: npm run docs
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { metricsPage } from './metrics-page.ts';
import { requirementTests, withTests } from './requirements-page.ts';

const file = (name: string) => path.join(codeFolder, 'docs', name);

writeFileSync(file('metrics.md'), metricsPage());

const page = readFileSync(file('requirements.md'), 'utf8');
const requirements = requirementTests(codeFolder, page);
writeFileSync(file('requirements.md'), withTests(page, requirements));
const open = requirements.filter(({ tests }) => tests.length === 0).map(({ id }) => id);
console.error(
  `${requirements.length - open.length} of ${requirements.length} requirements are held by a test`,
);
if (open.length > 0) console.error(`without: ${open.join(', ')}`);
