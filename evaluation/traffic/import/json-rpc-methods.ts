/** Which end of a connection sent a message. */
export type Side = 'client' | 'server';

/** MCP, revisions 2024-11-05 to 2026-07-28 (schema.ts: ServerRequest and ServerNotification): what only servers send. */
const SERVER_METHODS = new Set([
  ...['sampling/createMessage', 'roots/list', 'elicitation/create', 'notifications/message'],
  ...[
    'notifications/resources/updated',
    'notifications/resources/list_changed',
    'notifications/tools/list_changed',
  ],
  ...['notifications/prompts/list_changed', 'notifications/elicitation/complete'],
]);

/** Both ends of MCP send these. */
const EITHER = new Set([
  'ping',
  'notifications/progress',
  'notifications/cancelled',
  'notifications/tasks/status',
]);

/** A2A 0.3 (`message/send`) and 1.0 (`SendMessage`), section 9 of the specification: methods of the JSON-RPC binding. */
const A2A_METHODS =
  /^(?:message\/(?:send|stream)|tasks\/(?:resubscribe|pushNotificationConfig\/.+)|agent\/.+|SendMessage|SendStreamingMessage|GetTask|ListTasks|CancelTask|SubscribeToTask|TaskSubscription|GetExtendedAgentCard|GetAgentCard|(?:Create|Get|List|Delete|Set)TaskPushNotificationConfigs?)$/;

/** The side that sends `method`; undefined where both do. */
export function sideByMethod(method: string): Side | undefined {
  if (EITHER.has(method)) return undefined;
  return SERVER_METHODS.has(method) ? 'server' : 'client';
}

export function isA2a(method: string): boolean {
  return A2A_METHODS.test(method);
}
