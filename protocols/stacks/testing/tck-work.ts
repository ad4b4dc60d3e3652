import { setTimeout as delay } from 'node:timers/promises';
import type { AgentCard } from '../a2a/card.ts';
import { type AgentWork, createTextMessage, type WorkEvent } from '../a2a/work.ts';

/**
 * This module holds what A2A's test kit expects of an agent, by the prefix of the message's id (its
 * `scenarios/*.feature`).
 */

/** Time for which the kit waits for the events of a stream; a task that it follows later takes twice as long. */
const STREAM_TIMEOUT_MS = 2_000;

type Part = { readonly text: string } | { readonly data: object } | FilePart;
type FilePart = { readonly filename: string; readonly mediaType: string } & (
  | { readonly raw: string }
  | { readonly url: string }
);

const file: Part = {
  raw: Buffer.from('output of the test agent').toString('base64'),
  filename: 'output.txt',
  mediaType: 'text/plain',
};
const fileUrl: Part = {
  url: 'https://example.com/output.txt',
  filename: 'output.txt',
  mediaType: 'text/plain',
};

/** Prefixes with the parts of the one artifact that their tasks have. */
const artifacts: ReadonlyMap<string, Part> = new Map<string, Part>([
  ['tck-artifact-text', { text: 'Generated text content' }],
  ['tck-artifact-file-url', fileUrl],
  ['tck-artifact-file', file],
  ['tck-artifact-data', { data: { key: 'value', count: 42 } }],
  ['tck-stream-001', { text: 'Stream hello from TCK' }],
  ['tck-stream-003', { text: 'Stream task lifecycle' }],
  ['tck-stream-ordering-001', { text: 'Ordered output' }],
  ['tck-stream-artifact-text', { text: 'Streamed text content' }],
  ['tck-stream-artifact-file', file],
]);

export const tckWork: AgentWork = async ({ message, taskId, contextId, signal }, emit) => {
  const is = (prefix: string) => message.messageId.startsWith(prefix);
  const status = (state: StatusEvent['state'], text?: string) =>
    emit({
      kind: 'status',
      state,
      message: text === undefined ? undefined : createTextMessage(text, taskId, contextId),
    });
  const artifact = (part: Part, options: Pick<ArtifactEvent, 'append' | 'lastChunk'> = { lastChunk: true }) =>
    emit({ kind: 'artifact', artifact: { artifactId: 'output', name: 'output', parts: [part] }, ...options });

  if (is('tck-message-response')) {
    emit({ kind: 'message', message: createTextMessage('Direct message response', taskId, contextId) });
    return;
  }
  if (is('tck-input-required')) return status('TASK_STATE_INPUT_REQUIRED', 'What else?');
  if (is('tck-reject-task')) return status('TASK_STATE_REJECTED', 'rejected');
  status('TASK_STATE_WORKING');
  if (is('tck-stream-artifact-chunked')) {
    artifact({ text: 'chunk-1 ' }, { append: false, lastChunk: false });
    artifact({ text: 'chunk-2' }, { append: true, lastChunk: true });
  }
  if (is('test-resubscribe-message-id')) await delay(2 * STREAM_TIMEOUT_MS, undefined, { signal });
  const found = [...artifacts].find(([prefix]) => is(prefix));
  if (found !== undefined) artifact(found[1]);
  status('TASK_STATE_COMPLETED', is('tck-complete-task') ? 'Hello from TCK' : undefined);
};

type StatusEvent = Extract<WorkEvent, { kind: 'status' }>;
type ArtifactEvent = Extract<WorkEvent, { kind: 'artifact' }>;

export const tckCard: AgentCard = {
  name: 'test agent',
  description: 'Does what the test kit of A2A asks for',
  version: '1.0.0',
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['text/plain', 'application/json'],
  skills: [{ id: 'test', name: 'test', description: 'Answers by the id of a message', tags: ['test'] }],
};
