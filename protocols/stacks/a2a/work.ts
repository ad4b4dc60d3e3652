import type { A2aArtifact, A2aMessage } from './model.ts';

/**
 * An agent's work on a message. It is the same for a server of the SDK and for a bare one, which know nothing
 * of packets.
 */
export type AgentWork = (request: WorkRequest, emit: (event: WorkEvent) => void) => Promise<void>;

interface WorkRequest {
  readonly message: A2aMessage;
  readonly taskId: string;
  readonly contextId: string;
  /** Aborts when the task is cancelled or the server closes. */
  readonly signal: AbortSignal;
}

/**
 * An event of the work. A first event that is no message creates the task, in the state submitted; a message
 * is an answer without a task, and no event follows it (§3.1.1).
 */
export type WorkEvent =
  | { readonly kind: 'message'; readonly message: A2aMessage }
  | { readonly kind: 'status'; readonly state: TaskState; readonly message?: A2aMessage | undefined }
  | {
      readonly kind: 'artifact';
      readonly artifact: A2aArtifact;
      readonly append?: boolean;
      readonly lastChunk?: boolean;
    };

export type TaskState =
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_REJECTED';

/** Creates a message of the agent from text. */
export function createTextMessage(text: string, taskId: string, contextId: string): A2aMessage {
  return { messageId: crypto.randomUUID(), contextId, taskId, role: 'ROLE_AGENT', parts: [{ text }] };
}
