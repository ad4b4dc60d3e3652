import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { formatTraceparent, hashSpanId, hashTraceId } from '@gaia-mesh/core/recording/trace-context.ts';
import { readExportedRun } from '@gaia-mesh/evaluation/export/exported-run.ts';
import { runTelemetry } from '@gaia-mesh/evaluation/export/otlp/run-telemetry.ts';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../testing/otlp-receiver.ts';
import { startPipelineModel } from '../../testing/pipeline-model.ts';
import { endServe, startServe } from '../../testing/served.ts';
import { taskFile } from '../../testing/team-file.ts';

const CAPTURE = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
const DOCUMENT = 'Ida built the bridge over the Orra. It has stood for eighty years. Its stones are grey.';

/** Lists the ids of the packets that have a span, in alphabetical order. */
function listPacketIds(text: string): (string | undefined)[] {
  const ids = text.matchAll(/"key":"gaia_mesh\.packet\.id","value":\{"stringValue":"([^"]+)"/g);
  return Array.from(ids, ([, id]) => id).sort();
}

async function listRecordedIds(archive: string): Promise<string[]> {
  return (await readRecording(archive)).packets.map(({ packet }) => packet.id).sort();
}

describe('spans of a run', () => {
  const folder = temporaryFolder();
  const archive = path.join(folder, 'run_artifacts.tar.gz');

  beforeAll(async () => {
    const tasks = taskFile([
      { task_id: 'a', question: 'Who built the bridge?', document: DOCUMENT, answer: 'Ida' },
      { task_id: 'b', question: 'Who is it?', document: DOCUMENT, answer: 'Uta' },
    ]);
    // The model's server ends with the test that started it; a run of the embedded engine is enough for most.
    const { code, stderr } = await callCli([
      ...['bench', '--tasks', tasks, '--out', folder, '--port-base', 'auto'],
      ...['--otlp', path.join(folder, 'spans.jsonl')],
    ]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('spans in ')]);
  });

  test('are in a file, one for each packet, and are imported as a conversation', async () => {
    const file = path.join(folder, 'spans.jsonl');
    expect(listPacketIds(readFileSync(file, 'utf8'))).toEqual(await listRecordedIds(archive));
    const back = path.join(folder, 'back.jsonl');
    expect((await callCli(['import', file, '--out', back])).code).toBe(0);
    expect(JSON.stringify(await readRecording(back))).toContain('Ida built the bridge over the Orra.');
  });

  test('reach a collector that reads them by the official definitions', async () => {
    const receiver = await startOtlpReceiver();
    const { code, stdout } = await exported(archive, receiver, 'true');
    expect([code, stdout]).toEqual([0, expect.stringContaining(`sent to ${receiver.url}`)]);
    expect(listPacketIds(JSON.stringify(receiver.traces))).toEqual(await listRecordedIds(archive));
  });

  test('of which a collector takes a part, or that another server answers with a page, are not said to be there', async () => {
    const kind = 'rejected 2 of them';
    // ExportTraceServiceResponse.partial_success {rejected_spans: 2, error_message}
    const partial = Buffer.concat([Buffer.from([0x08, 2, 0x12, kind.length]), Buffer.from(kind)]);
    const refusing = await startOtlpReceiver(
      200,
      Buffer.concat([Buffer.from([0x0a, partial.length]), partial]),
    );
    const refused = await exported(archive, refusing);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/did not take .*rejected 2 of them/),
    ]);
    const page = await startOtlpReceiver(200, Buffer.from('<!doctype html><h1>Welcome</h1>'));
    expect((await exported(archive, page)).stdout).toContain(
      'its reply is not that of a collector: check the URL',
    );
  });

  test('go to a collector without a word of the documents, unless its variable says so', async () => {
    const receiver = await startOtlpReceiver();
    const { stdout } = await exported(archive, receiver);
    expect(stdout).toContain(`without contents (${CAPTURE}=true sends them)`);
    const sent = Buffer.concat(receiver.bytes).toString('latin1');
    expect(sent).toContain('invoke_workflow');
    expect(sent).not.toMatch(/Ida|bridge|Orra/);
  });

  test('have ids that follow from run, task and packet, so that a traceparent needs no room in an envelope', async () => {
    const { recording } = await readExportedRun(archive);
    const { spans } = runTelemetry(await readExportedRun(archive), true);
    const runId = recording.header.run_id;
    for (const { packet, cause } of recording.packets) {
      const span = spans.find(({ spanId }) => spanId === hashSpanId('packet', runId, packet.id));
      expect(span?.traceId).toBe(hashTraceId(runId, packet.task_id));
      expect(formatTraceparent({ runId, taskId: packet.task_id, packetId: packet.id })).toBe(
        `00-${span?.traceId}-${span?.spanId}-01`,
      );
      const causes = span?.links?.filter(({ attributes }) => attributes['gaia_mesh.link'] === 'cause');
      expect(causes?.map(({ spanId }) => spanId)).toEqual(
        cause === null ? [] : [hashSpanId('packet', runId, cause)],
      );
      expect(span?.endUs).toBeGreaterThanOrEqual(span?.startUs ?? Number.NaN);
    }
    const tasks = spans.filter(({ name }) => name === 'invoke_workflow pipeline');
    expect(tasks.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, undefined]);
    expect(tasks.map(({ events }) => events?.[0]?.attributes['gen_ai.evaluation.score.value'])).toEqual([
      1, 0,
    ]);
  });

  // The exporter's own patience is above this limit.
  test('for a collector that does not listen are refused at once, with what to do', async () => {
    const { code, stderr } = await callCli([
      'export',
      archive,
      '--as',
      'otlp',
      '--out',
      'http://127.0.0.1:9',
    ]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /did not take \d+ spans: connect ECONNREFUSED .*; a file name in place of the URL/,
    );
  }, 10_000);

  test('that do not arrive cost no result, and the exit code says so', async () => {
    const receiver = await startOtlpReceiver(400);
    const out = temporaryFolder();
    const { code, stdout, stderr } = await callCli([
      ...['bench', '--team', 'single', '--out', out, '--port-base', 'auto', '--otlp', receiver.url],
    ]);
    expect([code, stdout]).toEqual([1, expect.stringContaining('DONE, not exported')]);
    expect(stderr).toContain('run export -- ');
  });
});

test('exchanges with a model are spans of their own, below the work of the agent that had them', async () => {
  const model = await startPipelineModel();
  const receiver = await startOtlpReceiver();
  const out = temporaryFolder();
  const document = path.join(out, 'bridge.txt');
  writeFileSync(document, DOCUMENT);
  const { code } = await callCli(
    [
      ...[
        'bench',
        '--engine',
        'openai',
        '--model',
        'gpt-4o',
        '--host',
        `${model.url}/v1`,
        '--port-base',
        'auto',
      ],
      ...['--document', document, '--question', 'Who built the bridge?', '--out', out],
      ...['--otlp', receiver.url],
    ],
    { env: { [CAPTURE]: 'true' } },
  );
  expect(code).toBe(0);

  const spans = spansOf(receiver);
  const calls = spans.filter(({ name }) => name === 'chat gpt-4o');
  expect(calls).toHaveLength(4);
  for (const call of calls) {
    const agent = spans.find(({ spanId }) => spanId === call.parentSpanId);
    expect(agent?.attributes).toContainEqual({
      key: 'gen_ai.operation.name',
      value: { stringValue: 'invoke_agent' },
    });
    expect(agent?.attributes.find(({ key }) => key === 'gen_ai.agent.name')).toEqual(
      call.attributes.find(({ key }) => key === 'gen_ai.agent.name'),
    );
    expect(BigInt(call.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(agent?.startTimeUnixNano ?? '-1'));
    expect(BigInt(call.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(agent?.endTimeUnixNano ?? '0'));
    expect(BigInt(call.endTimeUnixNano)).toBeGreaterThan(BigInt(call.startTimeUnixNano));
    expect(call.attributes).toContainEqual({
      key: 'gen_ai.usage.input_tokens',
      value: { intValue: '100' },
    });
  }
});

test('a team that was served exports what it was asked, when it ends', async () => {
  const folder = temporaryFolder();
  const file = path.join(folder, 'spans.jsonl');
  const served = await startServe(['--mcp', '--otlp', file]);
  const client = new Client({ name: 'test', version: '1' });
  const headers = { Authorization: `Bearer ${served.token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(served.mcp ?? ''), { requestInit: { headers } }),
  );
  await client.callTool({
    name: 'ask',
    arguments: { question: 'Who built the bridge?', document: DOCUMENT },
  });
  await client.close();
  const { code, stderr } = await endServe(served);

  expect([code, stderr]).toEqual([0, expect.stringContaining('spans in ')]);
  expect(listPacketIds(readFileSync(file, 'utf8'))).toEqual(
    await listRecordedIds(path.join(served.out, 'run_artifacts.tar.gz')),
  );
});

test('a team that nobody asked ends as it should, with nothing to export', async () => {
  const file = path.join(temporaryFolder(), 'spans.jsonl');
  const { code, stderr } = await endServe(
    await startServe(['--team', 'single', '--mcp', 'http', '--otlp', file]),
  );

  expect([code, existsSync(file)]).toEqual([0, false]);
  expect(stderr).not.toContain('Not exported');
});

test.each([
  ['ftp://host/', 'expected a file or an http(s) URL'],
  ['http://me:secret@127.0.0.1:4318', 'takes no name and password'],
])('refuses --otlp %s before anything is started', async (target, message) => {
  const { code, stderr } = await callCli(['bench', '--otlp', target, '--out', temporaryFolder()]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

function exported(archive: string, { url }: OtlpReceiver, contents?: string) {
  return callCli(['export', archive, '--as', 'otlp', '--out', url], {
    env: contents === undefined ? undefined : { [CAPTURE]: contents },
  });
}

interface ReceivedSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: unknown }[];
}

function spansOf({ traces }: OtlpReceiver): ReceivedSpan[] {
  const requests = traces as { resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[] }[];
  return requests.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
}
