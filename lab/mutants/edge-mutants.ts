import type { Mutant } from './mutant.ts';

const store = ['evaluation/store/sql/sqlite-store.test.ts', 'evaluation/store/open-store.test.ts'];
const journal = ['evaluation/batch/journal/journal.test.ts', 'evaluation/batch/resume.test.ts'];
const secrets = ['scripts/tests/run/secrets.test.ts'];

/** Bugs in journals, stores, confinement and keys, at the edge between the project and the user’s machine. */
export const edgeMutants: readonly Mutant[] = [
  // Journals and stores of a batch.
  {
    file: 'core/system/files/whole-file.ts',
    find: 'renameSync(part, file);',
    put: 'writeFileSync(file, text);\n    rmSync(part);',
    breaks: 'a reader sees half a file',
    tests: ['core/system/files/whole-file.test.ts'],
  },
  {
    file: 'core/system/files/whole-file.ts',
    find: 'writeFileSync(part, text, { mode: 0o600 });',
    put: 'writeFileSync(part, text);',
    breaks: 'others read the results',
    tests: ['scripts/tests/commands/replay.test.ts', 'core/system/files/whole-file.test.ts'],
  },
  {
    file: 'evaluation/batch/journal/journal-index.ts',
    find: 'return this.#lines.has(formatResultKey(key));',
    put: 'return false;',
    breaks: 'what is finished is asked again',
    tests: journal,
  },
  {
    file: 'core/run/task-log.ts',
    find: 'if (this.#lines.has(task.taskId)) return;',
    put: '',
    breaks: 'a task is in the archive twice',
    tests: ['core/run/task-log.test.ts'],
  },
  {
    file: 'core/recording/read-archive.ts',
    find: "if (digest.copy().digest('hex') !== file.sha256)",
    put: 'if (false)',
    breaks: 'a changed archive is taken',
    tests: ['core/recording/read-archive.test.ts'],
  },
  {
    file: 'core/recording/recording.ts',
    find: 'if (cause !== null && !seen.has(cause)) throw refused',
    put: 'if (false) throw refused',
    breaks: 'packets that cause each other are replayed',
    tests: ['core/recording/recording.test.ts'],
  },
  {
    file: 'evaluation/store/sql/sqlite-store.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is source code
    find: 'database.exec(`BEGIN ${kind}`);',
    put: '',
    breaks: 'half of what belongs together is in the store',
    tests: store,
  },
  {
    file: 'evaluation/store/sql/sqlite-store.ts',
    find: "if (database.isTransaction) database.exec('ROLLBACK');",
    put: "if (database.isTransaction) database.exec('COMMIT');",
    breaks: 'a write that failed leaves its half in the store',
    tests: store,
  },
  {
    file: 'evaluation/batch/journal/journal.ts',
    find: 'if (!resume && existsSync(file)) renameSync',
    put: 'if (existsSync(file)) renameSync',
    breaks: 'a batch that is gone on with begins anew',
    tests: journal,
  },
  // Confinement.
  {
    file: 'core/run/agents/confinement.ts',
    find: "'--permission',",
    put: '',
    breaks: 'agents do as they like',
    tests: ['core/run/agents/launcher.test.ts'],
  },
  {
    file: 'core/run/agents/confinement.ts',
    find: "...(store === true ? [] : ['--no-experimental-sqlite']),",
    put: '',
    breaks: 'agents write files by SQLite',
    tests: ['core/run/agents/launcher.test.ts'],
  },
  {
    file: 'core/run/agents/confinement.ts',
    find: 'const isOffline = network !== true && hasNamespaces();',
    put: 'const isOffline = false;',
    breaks: 'agents open connections',
    tests: ['core/run/agents/launcher.test.ts'],
  },
  {
    file: 'core/run/agents/confinement.ts',
    find: 'return isAllowed && value !== undefined ? [[name, value]] : [];',
    put: 'return value !== undefined ? [[name, value]] : [];',
    breaks: 'agents have all keys',
    tests: ['core/run/agents/launcher.test.ts'],
  },
  {
    file: 'tools/web/confined.ts',
    find: 'env: { [JOB_VARIABLE]: job },',
    put: 'env: { ...process.env, [JOB_VARIABLE]: job },',
    breaks: 'readers of strangers’ bytes have the keys',
    tests: ['tools/files/read-any.test.ts', 'tools/web/confined.test.ts'],
  },
  {
    file: 'tools/files/read-confined.ts',
    find: 'return stripFileLine(await readConfined(loaded, reading, signal));',
    put: 'return stripFileLine((await perform(reading, loaded)).text);',
    breaks: 'documents are read with all rights',
    tests: ['tools/files/read-any.test.ts'],
  },
  {
    file: 'tools/files/find-file.ts',
    find: "if (parts.includes('..')) refuse",
    put: 'if (false) refuse',
    breaks: 'a name leads out of the task’s folder',
    tests: ['tools/files/find-file.test.ts', 'tools/files/files-contract.test.ts'],
  },
  {
    file: 'core/run/run-folder.ts',
    find: 'for (const file of [...written, ...ours]) refuseLink(file);',
    put: '',
    breaks: 'a prepared folder leads a run elsewhere',
    tests: ['core/run/run-folder.test.ts'],
  },
  {
    file: 'evaluation/questions/question.ts',
    find: 'return !realpathSync(file).startsWith(folder + path.sep);',
    put: 'return false;',
    breaks: 'a private key becomes a document',
    tests: ['evaluation/questions'],
  },
  {
    file: 'core/system/process/guard.ts',
    find: '[ -z "$1" ] || kill -9 "$1"',
    put: ':',
    breaks: 'servers outlive who made them',
    tests: ['core/system/process/guard.test.ts'],
  },
  // Keys and displayed texts.
  {
    file: 'tools/engines/servers/server-key.ts',
    find: 'if (key === undefined || hosts.some((host) => parseOrigin(host) === origin)) return key;',
    put: 'return key;',
    breaks: 'a team file gets the keys',
    tests: ['tools/engines', ...secrets],
  },
  {
    file: 'scripts/command-line/load-keys.ts',
    find: 'fresh.filter(([name]) => KNOWN.includes(name) === isKnown),',
    put: 'fresh.filter(() => isKnown),',
    breaks: 'a .env sets anything',
    tests: secrets,
  },
  {
    file: 'evaluation/batch/redact.ts',
    find: "for (const secret of secrets) redacted = redacted.replaceAll(secret, '[redacted]');",
    put: '',
    breaks: 'keys are written down',
    tests: [...secrets, 'evaluation/batch/run-log.test.ts'],
  },
  {
    file: 'evaluation/batch/redact.ts',
    find: '.sort((a, b) => b.length - a.length);',
    put: ';',
    breaks: 'the end of a key that begins with another is written down',
    tests: ['evaluation/batch/run-log.test.ts', 'evaluation/batch/redact.test.ts'],
  },
  {
    file: 'evaluation/terminal/print.ts',
    find: 'return process.stdout.write(escapeControls(text));',
    put: 'return process.stdout.write(text);',
    breaks: 'a packet drives the terminal',
    tests: ['evaluation/terminal/print.test.ts', 'scripts/tests/run/bench-output.test.ts'],
  },
  {
    file: 'tools/web/public-address.ts',
    find: "if (address.includes('%')) return false;",
    put: '',
    breaks: 'an address of this machine is fetched',
    tests: ['tools/web/public-address.test.ts'],
  },
  {
    file: 'tools/web/pages/gaia-file.ts',
    find: 'if (!DATASET_ID.test(taskId))',
    put: 'if (false)',
    breaks: 'the true answers are fetched',
    tests: ['tools/web/pages/gaia-file.test.ts'],
  },
];
