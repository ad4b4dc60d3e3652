import { randomUUID } from 'node:crypto';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, isJsonObject, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import type { AgentCard } from '@gaia-mesh/stacks/a2a/card.ts';
import type { A2aMessage } from '@gaia-mesh/stacks/a2a/model.ts';
import { type AgentWork, createTextMessage, type TaskState } from '@gaia-mesh/stacks/a2a/work.ts';
import { type AskRequest, askSchema } from './ask.ts';
import type { ServedTeam } from './served-team.ts';

/** Media types of documents that a message may attach. */
const DOCUMENT_TYPES = ['text/plain', 'text/markdown'];

/** Builds the A2A card of the team, without the addresses. */
export function buildTeamCard(
  name: string,
  description: string,
  version: string,
  hasToken: boolean,
): AgentCard {
  return {
    name,
    description,
    version,
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: [...DOCUMENT_TYPES, 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [
      {
        id: 'ask',
        name: 'Answer a question',
        description: `${description}. The text of a message is the question; a text file in it, or data {"question", "document"}, is what it is about.`,
        tags: ['question-answering'],
      },
    ],
    ...(hasToken
      ? {
          securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
          securityRequirements: [{ schemes: { bearer: { list: [] } } }],
        }
      : {}),
  };
}

/**
 * Creates the work that answers an A2A message: a task, an artifact with the answer as text and as data, and the final status.
 */
export function askWork(served: Pick<ServedTeam, 'ask'>): AgentWork {
  return async ({ message, taskId, contextId, signal }, emit) => {
    const end = (state: TaskState, text?: string) =>
      emit({
        kind: 'status',
        state,
        message: text === undefined ? undefined : createTextMessage(shortenReason(text), taskId, contextId),
      });
    let request: AskRequest;
    try {
      request = parseAskRequest(message);
    } catch (error) {
      return end('TASK_STATE_REJECTED', toErrorMessage(error));
    }
    emit({ kind: 'status', state: 'TASK_STATE_WORKING' });
    try {
      const answer = await served.ask(request, signal, (words) => {
        const told = createTextMessage(words, taskId, contextId);
        emit({ kind: 'status', state: 'TASK_STATE_WORKING', message: told });
      });
      if (answer.status !== 'answered')
        return end('TASK_STATE_FAILED', `${answer.status}: ${answer.reason ?? 'no answer'}`);
      const parts = [
        { text: answer.answer ?? '', mediaType: 'text/plain' },
        { data: answer, mediaType: 'application/json' },
      ];
      const artifact = { artifactId: randomUUID(), name: 'answer', parts };
      emit({ kind: 'artifact', artifact, lastChunk: true });
      end('TASK_STATE_COMPLETED');
    } catch (error) {
      const isRefused = error instanceof MeshError && error.code === 'limit';
      end(isRefused ? 'TASK_STATE_REJECTED' : 'TASK_STATE_FAILED', toErrorMessage(error));
    }
  };
}

/** @throws MeshError `packet` for a message with other parts than a question and a document */
function parseAskRequest({ parts }: A2aMessage): AskRequest {
  const questions: string[] = [];
  const documents: string[] = [];
  for (const { text, raw, url, data, filename = '', mediaType = 'text/plain' } of parts) {
    if (url !== undefined)
      throw new MeshError('packet', 'a part with a URL: this agent fetches nothing; send the content itself');
    // A text with a file name is a file.
    if (text !== undefined) (filename === '' ? questions : documents).push(text);
    else if (raw !== undefined) {
      if (!DOCUMENT_TYPES.includes(mediaType))
        throw new MeshError('packet', `a file: expected ${DOCUMENT_TYPES.join(' or ')}, came ${mediaType}`);
      documents.push(Buffer.from(raw, 'base64').toString());
    } else {
      const { success, data: asked, error } = partSchema.safeParse(isJsonObject(data) ? data : {});
      if (!success) throw new MeshError('packet', `a part with data: ${formatIssues(error)}`);
      if (asked.question !== undefined) questions.push(asked.question);
      if (asked.document !== undefined) documents.push(asked.document);
    }
  }
  const request = {
    question: questions.join('\n'),
    document: documents.length === 0 ? undefined : documents.join('\n\n'),
  };
  const { success, data, error } = askSchema.safeParse(request);
  if (!success) throw new MeshError('packet', `the message: ${formatIssues(error)}`);
  return data;
}

const partSchema = askSchema.partial();
