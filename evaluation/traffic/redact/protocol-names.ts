/**
 * Keys that stay when a recording is redacted: those that the protocols and APIs name themselves, which say what kind of traffic it is
 * and nothing of what was said. All others are a user's.
 */
export const PROTOCOL_KEYS: ReadonlySet<string> = new Set(
  // JSON-RPC, MCP (schema.ts of 2025-11-25 and 2026-07-28).
  (
    'jsonrpc id method params result error code message data _meta progressToken cursor nextCursor tools name title description inputSchema ' +
    'outputSchema annotations arguments content structuredContent isError type text uri mimeType blob resources resource contents prompts ' +
    'prompt messages role protocolVersion capabilities clientInfo serverInfo version instructions level logger roots sampling elicitation ' +
    'completions logging listChanged subscribe requestId reason progress total resultType supportedVersions ttlMs cacheScope $schema ' +
    'properties required items enum additionalProperties ' +
    // A2A 0.3 and 1.0.
    'messageId contextId taskId parts kind file metadata extensions referenceTaskIds configuration historyLength blocking ' +
    'acceptedOutputModes task status state timestamp artifacts artifactId history artifactUpdate statusUpdate final append lastChunk raw url ' +
    'filename mediaType ' +
    // OpenAI's and Anthropic's APIs.
    'model input output choices index delta finish_reason logprobs usage prompt_tokens completion_tokens total_tokens input_tokens ' +
    'output_tokens stop_reason stop_sequence max_tokens temperature top_p stream system tool_calls tool_call_id function call_id ' +
    'function_call tool_use_id is_error input_schema parameters strict refusal object created created_at annotations events source ' +
    'media_type tool_choice response_format previous_response_id reasoning_content cache_control ' +
    // OpenTelemetry's GenAI messages, ATIF, HAR as they are imported.
    'tool definitions documents document tool_call json_schema finish_reason score subagent_trajectory_ref base64 value'
  ).split(' '),
);

/** Types of packets that stay: methods of the protocols, and what the importers call things. */
export const PROTOCOL_TYPES: ReadonlySet<string> = new Set(
  (
    'doc_init initialize ping tools/list tools/call resources/list resources/templates/list resources/read resources/subscribe ' +
    'resources/unsubscribe prompts/list prompts/get completion/complete logging/setLevel server/discover sampling/createMessage roots/list ' +
    'elicitation/create notifications/initialized notifications/message notifications/progress notifications/cancelled ' +
    'notifications/tools/list_changed notifications/resources/list_changed notifications/resources/updated notifications/prompts/list_changed ' +
    'message/send message/stream tasks/get tasks/list tasks/cancel tasks/resubscribe SendMessage SendStreamingMessage GetTask ListTasks ' +
    'CancelTask SubscribeToTask GetExtendedAgentCard response model tool agent retriever model.call tool.call agent.call retriever.call ' +
    'chat chat.completions completions responses messages system user assistant tool user.message system.message agent.message'
  ).split(' '),
);
