// Writes into docs/requirements.md which tests hold each requirement: node scripts/requirements/write-requirements.ts
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '../../config/package-root.ts';
import { requirementTests, withTests } from './requirements-table.ts';

const file = path.join(codeFolder, 'docs', 'requirements.md');
const page = readFileSync(file, 'utf8');
const requirements = requirementTests(codeFolder, page);
writeFileSync(file, withTests(page, requirements));
const open = requirements.filter(({ tests }) => tests.length === 0).map(({ id }) => id);
console.error(
  `${requirements.length - open.length} of ${requirements.length} requirements are held by a test`,
);
if (open.length > 0) console.error(`without: ${open.join(', ')}`);
