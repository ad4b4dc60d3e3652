import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';

const jsonSchema = z.object({
  events: z
    .array(
      z.object({
        tStartMs: z.number().default(0),
        segs: z.array(z.object({ utf8: z.string().default('') })).default([]),
      }),
    )
    .default([]),
});

/**
 * Parses a video's captions into lines with times (`[1:05] …`), from any of YouTube's formats: `json3`, `srv3`, and the older
 * XML, which servers may send although another one was requested. Empty lines are left out.
 *
 * @throws MeshError `tool` for anything else
 */
export async function parseCaptions(text: string): Promise<string[]> {
  const json = jsonSchema.safeParse(tryParseJson(text));
  const lines = json.success
    ? json.data.events.map(({ tStartMs, segs }) =>
        formatCaption(tStartMs, segs.map(({ utf8 }) => utf8).join('')),
      )
    : await parseXmlCaptions(text);
  return lines.filter((line) => line !== undefined);
}

/** Parses `<text start="1.54">`, or `<p t="1540">` with words in `<s>`. */
async function parseXmlCaptions(xml: string): Promise<(string | undefined)[]> {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  if (XMLValidator.validate(xml) !== true) {
    throw new MeshError('tool', 'youtube sent an undocumented reply: neither JSON nor XML');
  }
  const parser = new XMLParser({
    ignoreAttributes: false,
    parseTagValue: false,
    trimValues: false,
    stopNodes: ['*.text', '*.p'],
    isArray: (name) => name === 'text' || name === 'p',
  });
  const body = xmlSchema.safeParse(parser.parse(xml));
  if (!body.success) throw new MeshError('tool', 'youtube sent an undocumented reply: no <text>, no <p>');
  return body.data.map(({ startMs, text }) => formatCaption(startMs, stripTags(text)));
}

const attribute = z.coerce.number().default(0);
const xmlSchema = z.union([
  z
    .object({
      transcript: z.object({
        text: z.array(z.object({ '@_start': attribute, '#text': z.string().default('') })),
      }),
    })
    .transform(({ transcript }) =>
      transcript.text.map((line) => ({ startMs: line['@_start'] * 1000, text: line['#text'] })),
    ),
  z
    .object({
      timedtext: z.object({
        body: z.object({ p: z.array(z.object({ '@_t': attribute, '#text': z.string().default('') })) }),
      }),
    })
    .transform(({ timedtext }) =>
      timedtext.body.p.map((line) => ({ startMs: line['@_t'], text: line['#text'] })),
    ),
]);

/** Removes tags, which texts have at both levels of their double escaping. */
function stripTags(text: string): string {
  return unescapeEntities(unescapeEntities(text.replace(/<[^<>]*>/g, ''))).replace(/<[^<>]*>/g, '');
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

function unescapeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (all, decimal, hex, name) => {
    const code =
      decimal === undefined ? (hex === undefined ? undefined : Number.parseInt(hex, 16)) : Number(decimal);
    if (code === undefined) return ENTITIES[name] ?? all;
    return code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : all;
  });
}

function formatCaption(startMs: number, text: string): string | undefined {
  const words = text.replace(/\s+/g, ' ').trim();
  if (words === '') return undefined;
  const seconds = Math.max(0, Math.floor(startMs / 1000));
  return `[${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}] ${words}`;
}
