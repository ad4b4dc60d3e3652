import { WireType } from '@bufbuild/protobuf/wire';
import {
  endOf,
  expectEnd,
  type Form,
  type MessageForm,
  many,
  message,
  one,
  protobufBool,
  protobufEnum,
  protobufText,
  tagOf,
} from '@gaia-mesh/protocols/scan/protobuf-message.ts';
import { protobufStruct, protobufValue } from '@gaia-mesh/protocols/scan/protobuf-value.ts';
import { notAPacket } from '@gaia-mesh/protocols/scan/scanner.ts';

/**
 * `a2a.proto` 1.0.1 (`lf.a2a.v1`), from and to the JSON of the same messages: what a server and a client of agents need. Fields of other
 * versions are refused rather than lost.
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

const SECONDS = tagOf(1, WireType.Varint);
const NANOS = tagOf(2, WireType.Varint);

/**
 * `google.protobuf.Timestamp`, an ISO 8601 text in JSON. Written in whole seconds: nanoseconds take 0 to 6 bytes as it happens, so that no
 * two runs would have as many bytes.
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
    const end = endOf(reader);
    let ms = 0;
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag === SECONDS) ms += Number(reader.int64()) * 1000;
      else if (tag === NANOS) ms += Math.floor(reader.int32() / 1_000_000);
      else throw notAPacket(`a timestamp with tag ${tag}`);
    }
    expectEnd(reader, end);
    // Of a time that no Date can hold there is no text.
    return new Date(Math.min(Math.max(ms, -8.64e15), 8.64e15)).toISOString();
  },
};

const taskState = protobufEnum({
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
const role = protobufEnum({ ROLE_UNSPECIFIED: 0, ROLE_USER: 1, ROLE_AGENT: 2 });

const part = message({
  text: one(1, protobufText),
  raw: one(2, bytes),
  url: one(3, protobufText),
  data: one(4, protobufValue),
  metadata: one(5, protobufStruct),
  filename: one(6, protobufText),
  mediaType: one(7, protobufText),
});
const chatMessage = message({
  messageId: one(1, protobufText),
  contextId: one(2, protobufText),
  taskId: one(3, protobufText),
  role: one(4, role),
  parts: many(5, part),
  metadata: one(6, protobufStruct),
  extensions: many(7, protobufText),
  referenceTaskIds: many(8, protobufText),
});
const artifact = message({
  artifactId: one(1, protobufText),
  name: one(2, protobufText),
  description: one(3, protobufText),
  parts: many(4, part),
  metadata: one(5, protobufStruct),
  extensions: many(6, protobufText),
});
const status = message({
  state: one(1, taskState),
  message: one(2, chatMessage),
  timestamp: one(3, timestamp),
});
const task = message({
  id: one(1, protobufText),
  contextId: one(2, protobufText),
  status: one(3, status),
  artifacts: many(4, artifact),
  history: many(5, chatMessage),
  metadata: one(6, protobufStruct),
});
const statusUpdate = message({
  taskId: one(1, protobufText),
  contextId: one(2, protobufText),
  status: one(3, status),
  metadata: one(4, protobufStruct),
});
const artifactUpdate = message({
  taskId: one(1, protobufText),
  contextId: one(2, protobufText),
  artifact: one(3, artifact),
  append: one(4, protobufBool),
  lastChunk: one(5, protobufBool),
  metadata: one(6, protobufStruct),
});
const authentication = message({ scheme: one(1, protobufText), credentials: one(2, protobufText) });
const pushConfig = message({
  tenant: one(1, protobufText),
  id: one(2, protobufText),
  taskId: one(3, protobufText),
  url: one(4, protobufText),
  token: one(5, protobufText),
  authentication: one(6, authentication),
});

const sendRequest = message({
  tenant: one(1, protobufText),
  message: one(2, chatMessage),
  configuration: one(
    3,
    message({
      acceptedOutputModes: many(1, protobufText),
      taskPushNotificationConfig: one(2, pushConfig),
      historyLength: one(3, int32),
      returnImmediately: one(4, protobufBool),
    }),
  ),
  metadata: one(4, protobufStruct),
});
const sendResponse = message({ task: one(1, task), message: one(2, chatMessage) });
const streamResponse = message({
  task: one(1, task),
  message: one(2, chatMessage),
  statusUpdate: one(3, statusUpdate),
  artifactUpdate: one(4, artifactUpdate),
});
const getTaskRequest = message({
  tenant: one(1, protobufText),
  id: one(2, protobufText),
  historyLength: one(3, int32),
});
const taskRequest = message({ tenant: one(1, protobufText), id: one(2, protobufText) });
const configRequest = message({
  tenant: one(1, protobufText),
  taskId: one(2, protobufText),
  id: one(3, protobufText),
});
const empty = message({});

/** Request and answer of each method of `A2AService`. */
export const methods: Readonly<Record<string, readonly [request: MessageForm, answer: MessageForm]>> = {
  SendMessage: [sendRequest, sendResponse],
  SendStreamingMessage: [sendRequest, streamResponse],
  GetTask: [getTaskRequest, task],
  ListTasks: [
    message({
      tenant: one(1, protobufText),
      contextId: one(2, protobufText),
      status: one(3, taskState),
      pageSize: one(4, int32),
      pageToken: one(5, protobufText),
      historyLength: one(6, int32),
      statusTimestampAfter: one(7, timestamp),
      includeArtifacts: one(8, protobufBool),
    }),
    message({
      tasks: many(1, task),
      nextPageToken: one(2, protobufText),
      pageSize: one(3, int32),
      totalSize: one(4, int32),
    }),
  ],
  CancelTask: [
    message({ tenant: one(1, protobufText), id: one(2, protobufText), metadata: one(3, protobufStruct) }),
    task,
  ],
  SubscribeToTask: [taskRequest, streamResponse],
  CreateTaskPushNotificationConfig: [pushConfig, pushConfig],
  GetTaskPushNotificationConfig: [configRequest, pushConfig],
  ListTaskPushNotificationConfigs: [
    message({
      taskId: one(1, protobufText),
      pageSize: one(2, int32),
      pageToken: one(3, protobufText),
      tenant: one(4, protobufText),
    }),
    message({ configs: many(1, pushConfig), nextPageToken: one(2, protobufText) }),
  ],
  DeleteTaskPushNotificationConfig: [configRequest, empty],
  GetExtendedAgentCard: [message({ tenant: one(1, protobufText) }), empty],
};

export const SERVICE_PATH = '/lf.a2a.v1.A2AService/';

const errorInfo = message({ reason: one(1, protobufText), domain: one(2, protobufText) });
const any = message({ typeUrl: one(1, protobufText), value: one(2, bytes) });
const rpcStatus = message({ code: one(1, int32), message: one(2, protobufText), details: many(3, any) });

/** `google.rpc.Status` with the error's `ErrorInfo`, as it goes into `grpc-status-details-bin` (§10.6). */
export function statusDetails(code: number, text: string, reason: string): string {
  const value = Buffer.from(errorInfo.encode({ reason, domain: 'a2a-protocol.org' })).toString('base64');
  const details = [{ typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo', value }];
  return Buffer.from(rpcStatus.encode({ code, message: text, details })).toString('base64');
}
