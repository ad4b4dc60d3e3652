import { createHash } from 'node:crypto';

/** Text that both ends know, so that it need not be sent. */
export interface Dictionary {
  readonly bytes: Uint8Array;
  /** First bytes of its SHA-256. */
  readonly hash: Buffer;
}

/**
 * Text that most packets share: the envelopes as the text protocols write them, with recurring values, and
 * the keys of the default team's payloads. It holds no document and no answer, so that it serves all users
 * alike. The likeliest text stands last, where references to it are shortest. A changed letter makes another
 * dictionary: frames carry its hash, and an end that has another one refuses them.
 */
const fragments: readonly string[] = [
  '{"code":"engine","message":"","stack":""}task_failed',
  '"auth":{"scheme":"anp-rfc9421-origin-proof-v1","origin_proof":{"contentDigest":"sha-256=:',
  '","signatureInput":"sig1=(\\"@method\\" \\"@target-uri\\" \\"content-digest\\");created=;expires=;nonce=\\"',
  '\\";keyid=\\"did:wba:#key-1\\"","signature":"sig1=:"}},',
  '{"jsonrpc":"2.0","method":"direct.send","params":{"meta":{"profile":"anp.direct.base.v1",',
  '"security_profile":"transport-protected","sender_did":"did:wba:","target":{"kind":"agent","did":"did:wba:"},',
  '"operation_id":"","message_id":"","created_at":"","content_type":"application/json"},',
  '"body":{"conversation_id":"","annotations":{"type":"',
  '{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"name":"mesh.packet","arguments":{"type":"',
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",',
  '"io.modelcontextprotocol/clientInfo":{"name":"","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}',
  '{"jsonrpc":"2.0","id":"","result":{"artifactUpdate":{"taskId":"","contextId":"","artifact":{"artifactId":"',
  '{"jsonrpc":"2.0","id":"","method":"SendMessage","params":{"message":{"messageId":"","contextId":"","role":"ROLE_USER",',
  '"parts":[{"data":{},"mediaType":"application/json"}],"metadata":{"urn:mesh:packet:v1":{"type":"',
  '"extensions":["urn:mesh:packet:v1"]}}}',
  '"passages":[{"first":0,"last":0,"text":"',
  '"events":[{"chunk":0,"text":"","score":100,"heading":"',
  '"sentences":[{"chunk":0,"text":"","score":',
  '"triples":[{"subject":"","relation":"","object":"","sentence":0,"start":0,"scores":[100,0,0]},',
  '{"question":"","chunks":["","',
  '"reply_to":"","tag":"final_answer","payload":{"answer":"',
  '{"type":"doc_init","from":"hub","id":"hub-1","task_id":"","token_used":0,"ts":17,"payload":{"question":"',
  '{"type":"data_event","from":"3","id":"3-1","task_id":"t-1","tag":"final_answer","token_used":',
  '{"type":"events","from":"1","id":"1-1","task_id":"t-1","token_used":',
  '{"type":"triples","from":"2","id":"2-1","task_id":"t-1","token_used":',
  '{"type":"search_docs","from":"0","to":"1","id":"0-1","task_id":"t-1","token_used":',
  ',"log_uri":"workspaces/0/search.log","ts":17,"payload":{"question":"',
];

export const dictionaryV1: Dictionary = createDictionary(Buffer.from(fragments.join('')));

export function createDictionary(bytes: Uint8Array): Dictionary {
  return { bytes, hash: createHash('sha256').update(bytes).digest().subarray(0, 4) };
}
