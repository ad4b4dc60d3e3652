// Compiles the one WebAssembly module: `npm run wasm`. Run it when the text has changed; a test holds that it was run.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import wabt from 'wabt';

const protocols = path.join(import.meta.dirname, '..', 'protocols');

/** The TypeScript file that holds `json-scan.wat`, compiled. */
export async function compiledScan(): Promise<string> {
  const { parseWat } = await wabt();
  const module = parseWat('json-scan.wat', readFileSync(path.join(protocols, 'json-scan.wat'), 'utf8'));
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64');
  return `/** \`json-scan.wat\`, written by \`npm run wasm\`. */\nexport const JSON_SCAN =\n  '${base64}';\n`;
}

if (import.meta.main) writeFileSync(path.join(protocols, 'json-scan.wasm.ts'), await compiledScan());
