import type { JsonObject } from '../../../core/contracts/packet.ts';
import { countOf, listOf, microseconds, objectOf, textOf, unpacked } from '../loose-values.ts';
import type { ImportedMessage, Importer, ImportNotes, SourceValue } from '../message.ts';
import { sseEvents } from './chat-log.ts';
import { importJsonRpc, isRpc } from './json-rpc.ts';

/** A body that the file has only the size of is stood in for by as many characters, up to this. */
const MAX_STAND_IN_BYTES = 16 * 1024 * 1024;
const CLIENT = 'client';

/**
 * HAR 1.2 (the W3C's draft of 2012, as browsers, proxies and Playwright write it): each entry is a request of the client to the host, and its
 * response. Bodies are what was said; heads are left out, since a stack writes its own. Bodies that are JSON-RPC are read as such.
 */
export const importHar: Importer = (values, notes) => {
  const entries = values.flatMap(({ value, where }) =>
    listOf(objectOf(objectOf(value)?.log)?.entries).map((entry, index) => ({
      entry,
      where: `${where}, entry ${index + 1}`,
    })),
  );
  return entries.flatMap(({ entry, where }) => exchangeOf(objectOf(entry) ?? {}, where, notes));
};

function exchangeOf(entry: JsonObject, where: string, notes: ImportNotes): ImportedMessage[] {
  const request = objectOf(entry.request);
  const response = objectOf(entry.response);
  const url = urlOf(request?.url);
  if (request === undefined || url === undefined) {
    notes.drop('an entry without a request', '# entries without a request', where);
    return [];
  }
  dropHeads(request, response, notes);
  const startUs = microseconds(entry.startedDateTime);
  const endUs = startUs === undefined ? undefined : startUs + (countOf(entry.time) ?? 0) * 1000;
  const asked = requestBody(request, url);
  const task = textOf(entry.pageref) ?? 'session';
  const answer = response === undefined ? undefined : responseBody(response, where, notes);
  const rpc = objectOf(asked);
  if (rpc !== undefined && isRpc(rpc)) return rpcExchange(rpc, answer, { url, task, startUs, endUs }, notes);
  const type = `${textOf(request.method) ?? 'GET'} ${url.pathname}`;
  const first: ImportedMessage = { from: CLIENT, to: url.host, task, type, payload: asked, atUs: startUs };
  const status = Number(response?.status ?? 0);
  // 0 is how browsers write that there was no response.
  if (answer === undefined || status === 0) {
    notes.drop('a response that never came', '# responses that never came', where);
    return [first];
  }
  const kind = status >= 400 ? 'error' : 'result';
  const second = {
    from: url.host,
    to: CLIENT,
    task,
    type: `${type}`.slice(0, 57),
    payload: answer,
    atUs: endUs,
  };
  return [first, { ...second, type: `${second.type}.${kind}`, answers: first }];
}

/** As the log of a proxy would have it. */
function rpcExchange(
  request: JsonObject,
  answer: unknown,
  about: { url: URL; task: string; startUs: number | undefined; endUs: number | undefined },
  notes: ImportNotes,
): ImportedMessage[] {
  const { url, task, startUs, endUs } = about;
  const line = (from: string, to: string, time: number | undefined, message: unknown): SourceValue => ({
    value: { from, to, session: task, ...(time === undefined ? {} : { time }), message },
    where: url.href,
  });
  const answers = listOf(objectOf(answer)?.events ?? [answer]).filter((value) =>
    isRpc(objectOf(value) ?? {}),
  );
  return importJsonRpc(
    [
      line(CLIENT, url.host, startUs, request),
      ...answers.map((value) => line(url.host, CLIENT, endUs, value)),
    ],
    notes,
  );
}

function urlOf(value: unknown): URL | undefined {
  try {
    return new URL(String(value));
  } catch {
    return undefined; // An entry may have anything there.
  }
}

/** What was sent: the body, or what stands in the URL where there is none. */
function requestBody({ postData }: JsonObject, url: URL): unknown {
  const data = objectOf(postData);
  const text = textOf(data?.text);
  if (text !== undefined) {
    const body = unpacked(text);
    return typeof body === 'string' ? { text: body } : body;
  }
  const fields = listOf(data?.params).flatMap((field) => {
    const { name, value } = objectOf(field) ?? {};
    return typeof name === 'string' ? [[name, value ?? null] as const] : [];
  });
  return Object.fromEntries([...url.searchParams, ...fields]);
}

function responseBody(response: JsonObject, where: string, notes: ImportNotes): unknown {
  const content = objectOf(response.content) ?? {};
  const text = textOf(content.text);
  const size = countOf(content.size) ?? 0;
  if (text === undefined) {
    if (size === 0) return {};
    notes.guess(
      'body of a response: only its size is known',
      'bodies of # responses: only their sizes are known',
      where,
    );
    return { text: 'x'.repeat(Math.min(size, MAX_STAND_IN_BYTES)) };
  }
  if (content.encoding === 'base64') return { base64: text };
  if (String(content.mimeType).startsWith('text/event-stream')) return { events: sseEvents(text) };
  const body = unpacked(text);
  return typeof body === 'string' ? { text: body } : body;
}

function dropHeads(request: JsonObject, response: JsonObject | undefined, notes: ImportNotes): void {
  let bytes = 0;
  for (const side of [request, response]) {
    for (const header of listOf(side?.headers)) {
      const { name, value } = objectOf(header) ?? {};
      bytes += String(name).length + String(value).length + 4;
    }
  }
  notes.drop('1 byte of HTTP heads', '# bytes of HTTP heads: a stack writes its own', undefined, bytes);
}
