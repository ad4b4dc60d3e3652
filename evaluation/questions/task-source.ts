import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { shortenPath } from '../plan/batch-places.ts';
import { listTruths, type Question } from './question.ts';
import { readTasks } from './question-rows.ts';
import { readTaskFolder, readTruth } from './read-questions.ts';

/** The tasks that a user chose. */
interface ChosenTasks {
  readonly tasks: readonly Question[];
  /** Digest of all chosen tasks. */
  readonly sha256: string;
  /** Offsets of the pages in the user's document, if it has pages. */
  readonly pageStarts?: readonly number[] | undefined;
  /** True if the user's document is in another language than English. */
  readonly isForeign?: boolean;
  /** Remarks about the document, for the user. */
  readonly notes: readonly string[];
}

const DEFAULT_TASK = 'cairn-astel-light';

/**
 * Reads the tasks of a file, a question about the user's document, or one task of a folder.
 *
 * @throws MeshError `usage`, `config`
 */
export async function readChosenTasks({
  tasks,
  limit,
  document,
  question,
  answer,
  task: name = DEFAULT_TASK,
}: {
  readonly tasks?: string | undefined;
  readonly limit?: number | undefined;
  readonly document?: string | undefined;
  readonly question?: string | undefined;
  readonly answer?: string | undefined;
  readonly task?: string | undefined;
}): Promise<ChosenTasks> {
  if (tasks !== undefined) {
    const file = resolveUserPath(tasks);
    return { ...(await readTasks(file, limit)), notes: [] };
  }
  if (document !== undefined) {
    const file = resolveUserPath(document);
    return askAboutDocument(file, question, answer);
  }
  const folder = resolveTaskFolder(name);
  const task = readTaskFolder(folder);
  // The truth of the folder's own question does not apply to another question about the same document.
  const asked = question === undefined ? task : { ...task, question, truths: [] };
  const notes =
    question === undefined
      ? []
      : [`no --document was given: the question is about that of --task ${name} (${shortenPath(folder)})`];
  return { ...toTaskList({ ...asked, category: 'text' }), notes };
}

/** Reads a document and asks about it; without `answer`, a file beside it may have the true answer. */
async function askAboutDocument(
  file: string,
  question: string | undefined,
  answer: string | undefined,
): Promise<ChosenTasks> {
  if (question === undefined || question.trim() === '')
    throw new MeshError('usage', '--document needs a --question about it');
  // Most runs have no document and start faster without the readers.
  const { readUserDocument } = await import('./user-document.ts');
  const { text: document, pageStarts, notes, isForeign } = await readUserDocument(file);
  const said = [...notes];
  const truths = answer === undefined ? findTruth(file, question, said) : [answer];
  const task = { taskId: path.basename(file), question, document, truths, category: 'text' };
  return { ...toTaskList(task), pageStarts, isForeign, notes: said };
}

function toTaskList(task: Question): Pick<ChosenTasks, 'tasks' | 'sha256'> {
  const { category: _category, ...hashed } = task;
  const sha256 = createHash('sha256').update(JSON.stringify(hashed)).digest('hex');
  return { tasks: [task], sha256 };
}

/** Returns the truth of a `ground_truth.json` beside the document if it is about the same question. */
function findTruth(documentFile: string, question: string, notes: string[]): string[] {
  const file = path.join(path.dirname(documentFile), 'ground_truth.json');
  if (!existsSync(file)) return [];
  try {
    const truth = readTruth(file);
    return truth.question === undefined || truth.question === question
      ? listTruths(truth.answer, truth.aliases)
      : [];
  } catch (error) {
    // An answer is useful even without a score (MP-61).
    if (!(error instanceof MeshError)) throw error;
    notes.push(`${error.message}: the answer is not scored`);
    return [];
  }
}

/** Lists the tasks that ship with the project. */
export function listShippedTasks(): string[] {
  return readdirSync(tasksFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

const tasksFolder: string = path.join(codeFolder, 'config', 'tasks');

const isFolder = (place: string): boolean =>
  statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;

export function resolveTaskFolder(nameOrFolder: string): string {
  const shipped = path.join(tasksFolder, path.basename(nameOrFolder));
  if (nameOrFolder === path.basename(nameOrFolder) && isFolder(shipped)) return shipped;
  const folder = resolveUserPath(nameOrFolder);
  if (isFolder(folder)) return folder;
  throw new MeshError(
    'usage',
    `no task ${nameOrFolder}: neither a folder, nor one of ${listShippedTasks().join(', ')}`,
  );
}
