import { createRequire } from 'node:module';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import * as z from 'zod';
import { answerConfined, isConfined, runConfined } from '../web/confined.ts';
import { parseReply } from '../web/parse-reply.ts';

/** A page of small print takes some seconds. */
const OCR_TIMEOUT_MS = 60_000;
const HEAP_MB = 512;
const JOB = 'read-image-text';

const found = z.object({ text: z.string(), confidence: z.number() });

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
  timeoutMs: number = OCR_TIMEOUT_MS,
): Promise<z.infer<typeof found>> {
  const outcome = await runConfined(new URL('./read-image-text.ts', import.meta.url), JOB, bytes, {
    timeoutMs,
    heapMb: HEAP_MB,
    workers: true,
    signal,
  });
  if ('output' in outcome) return parseReply(found, outcome.output, 'the text recognition');
  throw new MeshError('tool', `the text in ${name} cannot be recognised: ${outcome.stopped}`);
}

const OCR_PACKAGES = 'tesseract.js@7 @tesseract.js-data/eng@1';

async function recognizeText(bytes: Uint8Array): Promise<string> {
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
  return JSON.stringify({ text: data.text, confidence: data.confidence });
}

if (isConfined(JOB)) void answerConfined(recognizeText);
