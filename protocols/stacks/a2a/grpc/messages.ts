import { WireType } from '@bufbuild/protobuf/wire';
import {
  createEnumForm,
  createListField,
  createMessageForm,
  createSingleField,
  encodeTag,
  expectEnd,
  type Form,
  type MessageForm,
  protobufBool,
  protobufText,
  readEnd,
} from '@gaia-mesh/protocols/scan/protobuf-message.ts';
import { protobufStruct, protobufValue } from '@gaia-mesh/protocols/scan/protobuf-value.ts';
import { createPacketError } from '@gaia-mesh/protocols/scan/scanner.ts';

/**
 * This module translates `a2a.proto` 1.0.1 (`lf.a2a.v1`) from and to the JSON of the same messages, as far as
 * servers and clients of agents need it. It refuses fields of other versions rather than losing them.
 */

const bytes: Form<string> = {
  wireType: WireType.LengthDelimited,
  write: (writer, base64) => void writer.bytes(Buffer.from(base64, 'base64')),
  read: (reader) => Buffer.from(reader.bytes()).toString('base64'),
};

const int32: Form<number> = {
  wireType: WireType.Varint,
  write: (writer, value) => void writer.int32(value),
  read: (reader) => reader.int32(),
};

const SECONDS = encodeTag(1, WireType.Varint);
const NANOS = encodeTag(2, WireType.Varint);

/**
 * A `google.protobuf.Timestamp`, an ISO 8601 text in JSON. It is written in whole seconds: nanoseconds take 0
 * to 6 bytes depending on the time, so that two runs would differ in bytes.
 */
const timestamp: Form<string> = {
  wireType: WireType.LengthDelimited,
  write(writer, text) {
    writer
      .fork()
      .uint32(SECONDS)
      .int64(Math.floor(Date.parse(text) / 1000))
      .join();
  },
  read(reader) {
    const end = readEnd(reader);
    let ms = 0;
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag === SECONDS) ms += Number(reader.int64()) * 1000;
      else if (tag === NANOS) ms += Math.floor(reader.int32() / 1_000_000);
      else throw createPacketError(`a timestamp with tag ${tag}`);
    }
    expectEnd(reader, end);
    // A time beyond the range of Date has no text and is clamped.
    return new Date(Math.min(Math.max(ms, -8.64e15), 8.64e15)).toISOString();
  },
};

const taskState = createEnumForm({
  TASK_STATE_UNSPECIFIED: 0,
  TASK_STATE_SUBMITTED: 1,
  TASK_STATE_WORKING: 2,
  TASK_STATE_COMPLETED: 3,
  TASK_STATE_FAILED: 4,
  TASK_STATE_CANCELED: 5,
  TASK_STATE_INPUT_REQUIRED: 6,
  TASK_STATE_REJECTED: 7,
  TASK_STATE_AUTH_REQUIRED: 8,
});
const role = createEnumForm({ ROLE_UNSPECIFIED: 0, ROLE_USER: 1, ROLE_AGENT: 2 });

const part = createMessageForm({
  text: createSingleField(1, protobufText),
  raw: createSingleField(2, bytes),
  url: createSingleField(3, protobufText),
  data: createSingleField(4, protobufValue),
  metadata: createSingleField(5, protobufStruct),
  filename: createSingleField(6, protobufText),
  mediaType: createSingleField(7, protobufText),
});
const chatMessage = createMessageForm({
  messageId: createSingleField(1, protobufText),
  contextId: createSingleField(2, protobufText),
  taskId: createSingleField(3, protobufText),
  role: createSingleField(4, role),
  parts: createListField(5, part),
  metadata: createSingleField(6, protobufStruct),
  extensions: createListField(7, protobufText),
  referenceTaskIds: createListField(8, protobufText),
});
const artifact = createMessageForm({
  artifactId: createSingleField(1, protobufText),
  name: createSingleField(2, protobufText),
  description: createSingleField(3, protobufText),
  parts: createListField(4, part),
  metadata: createSingleField(5, protobufStruct),
  extensions: createListField(6, protobufText),
});
const status = createMessageForm({
  state: createSingleField(1, taskState),
  message: createSingleField(2, chatMessage),
  timestamp: createSingleField(3, timestamp),
});
const task = createMessageForm({
  id: createSingleField(1, protobufText),
  contextId: createSingleField(2, protobufText),
  status: createSingleField(3, status),
  artifacts: createListField(4, artifact),
  history: createListField(5, chatMessage),
  metadata: createSingleField(6, protobufStruct),
});
const statusUpdate = createMessageForm({
  taskId: createSingleField(1, protobufText),
  contextId: createSingleField(2, protobufText),
  status: createSingleField(3, status),
  metadata: createSingleField(4, protobufStruct),
});
const artifactUpdate = createMessageForm({
  taskId: createSingleField(1, protobufText),
  contextId: createSingleField(2, protobufText),
  artifact: createSingleField(3, artifact),
  append: createSingleField(4, protobufBool),
  lastChunk: createSingleField(5, protobufBool),
  metadata: createSingleField(6, protobufStruct),
});
const authentication = createMessageForm({
  scheme: createSingleField(1, protobufText),
  credentials: createSingleField(2, protobufText),
});
const pushConfig = createMessageForm({
  tenant: createSingleField(1, protobufText),
  id: createSingleField(2, protobufText),
  taskId: createSingleField(3, protobufText),
  url: createSingleField(4, protobufText),
  token: createSingleField(5, protobufText),
  authentication: createSingleField(6, authentication),
});

const sendRequest = createMessageForm({
  tenant: createSingleField(1, protobufText),
  message: createSingleField(2, chatMessage),
  configuration: createSingleField(
    3,
    createMessageForm({
      acceptedOutputModes: createListField(1, protobufText),
      taskPushNotificationConfig: createSingleField(2, pushConfig),
      historyLength: createSingleField(3, int32),
      returnImmediately: createSingleField(4, protobufBool),
    }),
  ),
  metadata: createSingleField(4, protobufStruct),
});
const sendResponse = createMessageForm({
  task: createSingleField(1, task),
  message: createSingleField(2, chatMessage),
});
const streamResponse = createMessageForm({
  task: createSingleField(1, task),
  message: createSingleField(2, chatMessage),
  statusUpdate: createSingleField(3, statusUpdate),
  artifactUpdate: createSingleField(4, artifactUpdate),
});
const getTaskRequest = createMessageForm({
  tenant: createSingleField(1, protobufText),
  id: createSingleField(2, protobufText),
  historyLength: createSingleField(3, int32),
});
const taskRequest = createMessageForm({
  tenant: createSingleField(1, protobufText),
  id: createSingleField(2, protobufText),
});
const configRequest = createMessageForm({
  tenant: createSingleField(1, protobufText),
  taskId: createSingleField(2, protobufText),
  id: createSingleField(3, protobufText),
});
const empty = createMessageForm({});

/** Request and answer of each method of `A2AService`. */
export const methods: Readonly<Record<string, readonly [request: MessageForm, answer: MessageForm]>> = {
  SendMessage: [sendRequest, sendResponse],
  SendStreamingMessage: [sendRequest, streamResponse],
  GetTask: [getTaskRequest, task],
  ListTasks: [
    createMessageForm({
      tenant: createSingleField(1, protobufText),
      contextId: createSingleField(2, protobufText),
      status: createSingleField(3, taskState),
      pageSize: createSingleField(4, int32),
      pageToken: createSingleField(5, protobufText),
      historyLength: createSingleField(6, int32),
      statusTimestampAfter: createSingleField(7, timestamp),
      includeArtifacts: createSingleField(8, protobufBool),
    }),
    createMessageForm({
      tasks: createListField(1, task),
      nextPageToken: createSingleField(2, protobufText),
      pageSize: createSingleField(3, int32),
      totalSize: createSingleField(4, int32),
    }),
  ],
  CancelTask: [
    createMessageForm({
      tenant: createSingleField(1, protobufText),
      id: createSingleField(2, protobufText),
      metadata: createSingleField(3, protobufStruct),
    }),
    task,
  ],
  SubscribeToTask: [taskRequest, streamResponse],
  CreateTaskPushNotificationConfig: [pushConfig, pushConfig],
  GetTaskPushNotificationConfig: [configRequest, pushConfig],
  ListTaskPushNotificationConfigs: [
    createMessageForm({
      taskId: createSingleField(1, protobufText),
      pageSize: createSingleField(2, int32),
      pageToken: createSingleField(3, protobufText),
      tenant: createSingleField(4, protobufText),
    }),
    createMessageForm({
      configs: createListField(1, pushConfig),
      nextPageToken: createSingleField(2, protobufText),
    }),
  ],
  DeleteTaskPushNotificationConfig: [configRequest, empty],
  GetExtendedAgentCard: [createMessageForm({ tenant: createSingleField(1, protobufText) }), empty],
};

export const SERVICE_PATH = '/lf.a2a.v1.A2AService/';

const errorInfo = createMessageForm({
  reason: createSingleField(1, protobufText),
  domain: createSingleField(2, protobufText),
});
const any = createMessageForm({
  typeUrl: createSingleField(1, protobufText),
  value: createSingleField(2, bytes),
});
const rpcStatus = createMessageForm({
  code: createSingleField(1, int32),
  message: createSingleField(2, protobufText),
  details: createListField(3, any),
});

/** Encodes a `google.rpc.Status` with the error's `ErrorInfo`, for `grpc-status-details-bin` (§10.6). */
export function encodeStatusDetails(code: number, text: string, reason: string): string {
  const value = Buffer.from(errorInfo.encode({ reason, domain: 'a2a-protocol.org' })).toString('base64');
  const details = [{ typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo', value }];
  return Buffer.from(rpcStatus.encode({ code, message: text, details })).toString('base64');
}
