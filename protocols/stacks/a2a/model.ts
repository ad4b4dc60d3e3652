import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { createFaultError } from '../json-rpc.ts';

/** This module holds the data model of A2A 1.0 (§4) in JSON. It keeps and ignores unknown fields (§5.7). */

export const TERMINAL_STATES: ReadonlySet<string> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);
/** States in which the task waits for its client, so that an answer does not wait longer (§3.2.2). */
const INTERRUPTED_STATES: ReadonlySet<string> = new Set([
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
]);

export function isSettled(state: string): boolean {
  return TERMINAL_STATES.has(state) || INTERRUPTED_STATES.has(state);
}

const metadataSchema = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);
export const partSchema = z
  .looseObject({
    text: z.string().optional(),
    raw: z.string().optional(),
    url: z.string().optional(),
    data: z.unknown().optional(),
    filename: z.string().optional(),
    mediaType: z.string().optional(),
    metadata: metadataSchema.optional(),
  })
  .refine(
    (part) => ['text', 'raw', 'url', 'data'].filter((key) => key in part).length === 1,
    'expected exactly one of text, raw, url and data',
  );
const messageSchema = z.looseObject({
  messageId: z.string().min(1),
  contextId: z.string().optional(),
  taskId: z.string().optional(),
  role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
  parts: z.array(partSchema).min(1),
  metadata: metadataSchema.optional(),
  extensions: z.array(z.string()).optional(),
  referenceTaskIds: z.array(z.string()).optional(),
});
const artifactSchema = z.looseObject({
  artifactId: z.string().min(1),
  parts: z.array(partSchema),
  metadata: metadataSchema.optional(),
});
const statusSchema = z.looseObject({ state: z.string(), message: messageSchema.optional() });
const taskSchema = z.looseObject({
  id: z.string().min(1),
  contextId: z.string(),
  status: statusSchema,
  artifacts: z.array(artifactSchema).optional(),
});

export type A2aMessage = z.infer<typeof messageSchema>;
export type A2aArtifact = z.infer<typeof artifactSchema>;

const historyLengthSchema = z.int().nonnegative().optional();

const pushConfigSchema = z.looseObject({
  id: z.string().optional(),
  taskId: z.string().optional(),
  url: z.url({ protocol: /^https?$/ }),
  token: z.string().optional(),
  /** The version of A2A in whose forms its client reads events; 1.0 if it is absent. */
  protocolVersion: z.string().optional(),
  authentication: z.looseObject({ scheme: z.string(), credentials: z.string().optional() }).optional(),
});
export type PushConfig = z.infer<typeof pushConfigSchema>;

/** Parameters of each operation (§3.1), which are the same in all transports. */
export const paramsSchemas = {
  send: z.looseObject({
    message: messageSchema,
    configuration: z
      .looseObject({
        historyLength: historyLengthSchema,
        returnImmediately: z.boolean().optional(),
        taskPushNotificationConfig: pushConfigSchema.optional(),
      })
      .optional(),
  }),
  get: z.looseObject({ id: z.string().min(1), historyLength: historyLengthSchema }),
  list: z.looseObject({
    contextId: z.string().optional(),
    status: z.string().optional(),
    pageSize: z.int().min(1).max(100).optional(),
    pageToken: z.string().regex(/^\d*$/).optional(),
    historyLength: historyLengthSchema,
    statusTimestampAfter: z.iso.datetime({ offset: true }).optional(),
    includeArtifacts: z.boolean().optional(),
  }),
  task: z.looseObject({ id: z.string().min(1) }),
  pushConfig: pushConfigSchema.extend({ taskId: z.string().min(1) }),
  pushConfigs: z.looseObject({ taskId: z.string().min(1) }),
  pushConfigId: z.looseObject({ taskId: z.string().min(1), id: z.string().min(1) }),
} as const;

/** @throws MeshError with the fault `invalidParams`, naming the invalid parameter */
export function parseParams<T>(schema: z.ZodType<T>, params: unknown): T {
  const result = schema.safeParse(toCamelCase(params ?? {}));
  if (!result.success)
    throw createFaultError('invalidParams', `invalid parameters: ${formatIssues(result.error)}`);
  return result.data;
}

/** Parameters that are messages of their own. */
const NESTED: ReadonlySet<string> = new Set(['message', 'configuration', 'taskPushNotificationConfig']);

/**
 * Renames keys that use the names of `a2a.proto`, which ProtoJSON may have as well: `history_length` becomes
 * `historyLength`.
 */
function toCamelCase(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return [name, NESTED.has(name) ? toCamelCase(member) : member];
    }),
  );
}

/** `StreamResponse` (§3.2.3), which has one of four forms; `SendMessageResponse` (§3.1.1) has one of the first two. */
export const streamResponseSchema = z.union([
  z.object({ task: taskSchema }),
  z.object({ message: messageSchema }),
  z.object({ statusUpdate: z.looseObject({ taskId: z.string(), status: statusSchema }) }),
  z.object({
    artifactUpdate: z.looseObject({
      taskId: z.string(),
      artifact: artifactSchema,
      append: z.boolean().optional(),
      lastChunk: z.boolean().optional(),
    }),
  }),
]);
export type StreamResponse = z.infer<typeof streamResponseSchema>;

/** @throws MeshError `packet`, naming the invalid part of an answer */
export function parseAnswer<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (!result.success)
    throw new MeshError('packet', `A2A: not the ${what} that was expected: ${formatIssues(result.error)}`);
  return result.data;
}
