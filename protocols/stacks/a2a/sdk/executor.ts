import type { TaskStatus } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import type { AgentWork, TaskState, WorkEvent } from '../work.ts';
import type { Sdk } from './sdk.ts';
import { toJsonMessage, toSdkArtifact, toSdkMessage } from './shapes.ts';

/** Runs an agent's work for the SDK's server: events go to a bus, and the first must be the task or a message. */
export class WorkExecutor implements AgentExecutor {
  readonly #sdk: Sdk;
  readonly #work: AgentWork;
  readonly #clock: () => Date;
  readonly #running = new Map<string, { readonly abort: AbortController; readonly contextId: string }>();

  constructor(sdk: Sdk, work: AgentWork, clock: () => Date) {
    this.#sdk = sdk;
    this.#work = work;
    this.#clock = clock;
  }

  async execute(request: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task, context } = request;
    const abort = new AbortController();
    this.#running.set(taskId, { abort, contextId });
    for (const extension of userMessage.extensions) context.addActivatedExtension(extension);
    const { AgentEvent } = this.#sdk.server;
    let isMade = false;
    const emit = (event: WorkEvent) => {
      if (abort.signal.aborted) return; // Events of a cancelled task are dropped.
      if (!isMade && event.kind !== 'message') {
        isMade = true;
        const made = { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined };
        const status = this.#statusOf('TASK_STATE_SUBMITTED');
        bus.publish(AgentEvent.task({ ...(task ?? made), status }));
      }
      this.#publish(bus, event, taskId, contextId);
    };
    try {
      const message = toJsonMessage(this.#sdk, userMessage);
      await this.#work({ message, taskId, contextId, signal: abort.signal }, emit);
    } finally {
      this.#running.delete(taskId);
      bus.finished();
    }
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const running = this.#running.get(taskId);
    running?.abort.abort();
    const status = this.#statusOf('TASK_STATE_CANCELED');
    const contextId = running?.contextId ?? '';
    bus.publish(this.#sdk.server.AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
    bus.finished();
  }

  /** Aborts all work. */
  close(): void {
    for (const { abort } of this.#running.values()) abort.abort();
  }

  #publish(bus: ExecutionEventBus, event: WorkEvent, taskId: string, contextId: string): void {
    const { AgentEvent } = this.#sdk.server;
    const rest = { taskId, contextId, metadata: undefined };
    switch (event.kind) {
      case 'message':
        bus.publish(AgentEvent.message({ ...toSdkMessage(this.#sdk, event.message), contextId }));
        return;
      case 'status': {
        const message = event.message === undefined ? undefined : toSdkMessage(this.#sdk, event.message);
        bus.publish(AgentEvent.statusUpdate({ status: this.#statusOf(event.state, message), ...rest }));
        return;
      }
      case 'artifact': {
        const { append = false, lastChunk = false } = event;
        const artifact = toSdkArtifact(event.artifact);
        bus.publish(AgentEvent.artifactUpdate({ artifact, append, lastChunk, ...rest }));
      }
    }
  }

  #statusOf(state: TaskState | 'TASK_STATE_SUBMITTED', message?: TaskStatus['message']): TaskStatus {
    const timestamp = this.#clock().toISOString();
    return { state: this.#sdk.model.taskStateFromJSON(state), message, timestamp };
  }
}
