import { createRequire } from 'node:module';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { JOB_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import { defineJob, runJob } from '@gaia-mesh/core/system/process/jobs.ts';

/**
 * Reads the English text in an image with tesseract, offline; `confidence` is tesseract's own, 0 to 100. It runs in a process of its
 * own: given invalid images, tesseract throws errors that cannot be caught, or never ends.
 *
 * @throws MeshError `tool` if the image cannot be read, or not in time
 */
export async function readImageText(
  bytes: Uint8Array,
  name: string,
  signal: AbortSignal,
  ms: number = JOB_LIMITS.image.ms,
): Promise<{ text: string; confidence: number }> {
  const outcome = await runJob(recognize, bytes, { ...JOB_LIMITS.image, ms }, { signal });
  if ('answer' in outcome) return outcome.answer;
  throw new MeshError('tool', `the text in ${name} cannot be recognised: ${outcome.stopped}`);
}

const OCR_PACKAGES = 'tesseract.js@7 @tesseract.js-data/eng@1';

async function recognizeText(bytes: Uint8Array) {
  const { createWorker, OEM } = await withPackage(
    OCR_PACKAGES,
    'text in images',
    () => import('tesseract.js'),
  );
  const languages = path.dirname(
    createRequire(import.meta.url).resolve('@tesseract.js-data/eng/package.json'),
  );
  const worker = await createWorker('eng', OEM.LSTM_ONLY, {
    langPath: path.join(languages, '4.0.0_best_int'),
    cacheMethod: 'none',
  });
  const { data } = await worker.recognize(Buffer.from(bytes));
  return { text: data.text, confidence: data.confidence };
}

const recognize = defineJob(
  new URL('./read-image-text.ts', import.meta.url),
  'read-image-text',
  async () => recognizeText,
  { threads: true, blamesInput: true },
);
