/**
 * Bounds of the mesh that several files or a test share, with their reasons; others stand in the file that uses
 * them. Values that a user may want to change are options of the command or of the team file; these are the
 * defaults and the ceilings.
 */

/** Maximum frame size in bytes, without its prefix (C-31). It is checked before memory is allocated. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** Bounds of a compressed packet when it is unpacked. */
export const UNPACK_LIMITS = {
  /**
   * Maximum ratio of a compressed packet's unpacked size to its own. {@link UNPACK_LIMITS.alwaysBytes} are always
   * allowed, and never more than a frame. Tables, logs and lists of records reach 129 with the best of our
   * compressors; data that reaches more than twice that is extremely repetitive and is sent uncompressed.
   * Without the bound a frame of 2 kB could demand 64 MiB from each of its readers.
   */
  ratio: 256,
  /**
   * Unpacked bytes that are always allowed, however repetitive the packet: filling this much memory takes no
   * time.
   */
  alwaysBytes: 1024 * 1024,
} as const;

/** Bounds of the handshake between the hub and an agent. */
export const HANDSHAKE_LIMITS = {
  /**
   * Maximum frame size in bytes before the handshake has ended, while the sender is still unproven. It has room
   * for the offers of a few hundred members.
   */
  frameBytes: 256 * 1024,
  /**
   * Timeout for each message of the handshake (see `core/system/process/patience.ts` for how it is counted).
   */
  messageMs: 5_000,
  /**
   * Maximum connections that wait in an agent's handshake at once; one more closes the oldest that has proved
   * nothing.
   */
  pending: 8,
} as const;

/** Bounds of frames that are too large for a slab. */
export const LARGE_FRAME_LIMITS = {
  /**
   * Maximum total bytes of frames too large for a slab that agents read at the same time; a single frame may be
   * larger.
   */
  readBytes: 4 * 1024 * 1024,
  /**
   * Maximum total bytes of all large frames that have begun, including stalled ones: three frames of the
   * largest size.
   */
  begunBytes: 3 * MAX_FRAME_BYTES,
  /** A large frame that makes no progress for this long loses its place in the queue of readers. */
  patienceMs: 100,
} as const;

/** Bounds of the connections to a server that anyone on the machine can reach. */
export const CONNECTION_LIMITS = {
  /** Maximum connections that have shown no token yet; beyond it the oldest makes room for the next. */
  maxStrangers: 64,
  /** Maximum of them in a burst: each may stay for `firstWordMs` even above `maxStrangers`, but never above this bound. */
  maxInBurst: 512,
  firstWordMs: 100,
  /** A connection must show the token within this time of its beginning, regardless of what it sends. */
  patienceMs: 5_000,
  /** Maximum connections of clients that have shown the token: enough for many, too few for a flood. */
  maxKnown: 256,
} as const;

/** Bounds of a network between two ends, see `core/transports/network/`. */
export const NETWORK_LIMITS = {
  /** Longest round trip: three times that of a satellite. A handshake waits longer for each of its messages. */
  rttMs: 2_000,
  /** Maximum bytes under way in a direction of a connection: more than the largest window of the usual systems. */
  queuedBytes: 8 * 1024 * 1024,
} as const;

/** Bounds of the memory that a server keeps for its clients. */
export const KEPT_LIMITS = {
  /** Minimum of the whole budget; where requests may be large, it has room for some of the largest. */
  minBytes: 64 * 1024 * 1024,
  requests: 16,
  /** Maximum characters of a request's id, which is kept until its last answer and repeated in each of them. */
  idCharacters: 1024,
  /** Share of the budget that one message, or one page of a list, may take; a client asks for further pages. */
  messageShare: 1 / 4,
  pageShare: 1 / 16,
} as const;

/** Bounds of the processes of agents and of their work. */
export const AGENT_LIMITS = {
  /**
   * An agent process must listen within this time of its start. The bound is generous: five cold starts share
   * two cores.
   */
  startMs: 30_000,
  /** An agent that has been asked to stop is killed after this time. */
  stopMs: 2_000,
  /** Time that agents have to hand in their ledgers after the last task. */
  settleMs: 5_000,
  /** Maximum packets that one agent works on at the same time; above it the agent stops reading (MP-53). */
  packets: 256,
  /**
   * Maximum requests of one agent that wait for replies. A role sends a few at a time; a loop that asks without
   * waiting is broken.
   */
  requests: 256,
} as const;

/** Bounds of what waits for one destination. */
export const LINK_LIMITS = {
  /**
   * Maximum bytes that wait for one destination before the hub stops reading from the sources (MP-22). Data
   * that waits at a source exists once; data that waits here exists once per destination and has left the
   * caches before it is sent: a bound four times as large was slower.
   */
  queueBytes: 1024 * 1024,
  /** A destination that accepts nothing for this long while its queue is full is deregistered by name. */
  stallMs: 10_000,
} as const;

/**
 * Maximum packet types that are counted individually, in a run and in a task; the rest share a line. A team
 * has a few dozen.
 */
export const MAX_PACKET_TYPES = 1000;

/**
 * Maximum nesting of a payload, and of any JSON of foreign senders unless its reader says otherwise. Deeper
 * values overflow the stack of one decoder or another.
 */
export const MAX_PAYLOAD_DEPTH = 64;

/** Maximum nesting of a message of A2A or MCP: that of a payload, and the envelopes around it. */
export const MAX_MESSAGE_DEPTH = MAX_PAYLOAD_DEPTH + 16;

/**
 * Maximum size of one `agent.log` or `hub.log`; later lines are counted, and the last line reports their
 * number.
 */
export const MAX_LOG_BYTES = 256 * 1024 * 1024;

/**
 * Maximum bytes of a recording, written or read, and its values. Readers hold it as text and as objects; with
 * these bounds they take less than 1 GB. It has room for some 300,000 small packets.
 */
export const MAX_RECORDING_BYTES = 128 * 1024 * 1024;

/** Bounds of an archive that is read. */
export const ARCHIVE_LIMITS = {
  /** Maximum unpacked bytes, which are never held together: as many as a run packs. */
  unpackedBytes: 2.5 * 1024 * 1024 * 1024,
  /**
   * Unpacked bytes that are always allowed. Beyond them {@link UNPACK_LIMITS.ratio} holds: logs and recordings are
   * packed to a tenth, repetitive ones to a hundredth.
   */
  minUnpackedBytes: 64 * 1024 * 1024,
  /** Maximum files: those of 1,000 questions with attachments are some 10,000. */
  files: 50_000,
  /** Maximum characters of the path of a file, as file systems have it. */
  pathCharacters: 4096,
} as const;

/** Documents are cut into chunks of this many characters (Unicode code points), the last one shorter (MP-21). */
export const CHUNK_CHARACTERS = 400;

/** Maximum size of a document in bytes: far above any article, and small enough to fit a frame. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** Maximum bytes of a line in a task file or in an input of `evaluate`. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/**
 * Maximum values (objects, lists, scalars and keys) of one packet or JSON text. A value takes up to 64 bytes of
 * memory, however short it is written: a list takes one byte in MessagePack, so that a frame of 34 MB would take
 * 2.5 GB.
 */
export const MAX_DECODED_VALUES = 4_000_000;

/** Bounds of injected faults. */
export const FAULT_LIMITS = {
  /** Maximum faults of one run: far more than a person can keep apart. */
  faults: 100,
  /**
   * Latest time of a fault after the first task's start, and its maximum duration: the longest time for a task.
   */
  timeMs: 86_400_000,
  /** Maximum delay of a delivery: no task with the default timeout would survive more. */
  delayMs: 60_000,
  /**
   * Maximum bytes of all deliveries that faults hold back at once; above it they are sent early, and counted.
   */
  heldBytes: 64 * 1024 * 1024,
} as const;

/** Bounds of the restarts of agents. */
export const RESTART_LIMITS = {
  /** Maximum restarts of an agent that keeps dying: a cause that kills it three times is no accident. */
  restarts: 3,
  /** Wait before an agent's first restart; doubled for each further one, so that a cause has time to pass. */
  backoffMs: 100,
  /** Time that the hub waits for an agent that someone else has to restart, up to three times. */
  returnMs: 20_000,
} as const;

/** Bounds of acknowledged delivery. */
export const DELIVERY_LIMITS = {
  /**
   * Acknowledged delivery: maximum packets and bytes that an agent keeps until the hub has taken them over;
   * above either, its work waits before it sends. A few hundred packets are under way at the highest rates of
   * real agents.
   */
  outboxPackets: 1024,
  outboxBytes: 4 * 1024 * 1024,
  /** Maximum lines of an outbox before it is rewritten: a restarted agent reads them one by one. */
  outboxLines: 1000,
  /**
   * Maximum packets that were written to an agent and are not finished: as many as it works on. More wait in
   * its mailbox.
   */
  window: 256,
  /**
   * Above this many bytes in one mailbox the hub takes over no more packets, so that the outboxes fill and work
   * waits.
   */
  mailboxBytes: 8 * 1024 * 1024,
  /**
   * Acknowledgements are batched for at most this long and up to this many ids, because each batch costs an
   * envelope.
   */
  ackDelayMs: 5,
  ackIds: 64,
  /**
   * An agent reports work that takes longer than this to the hub, which would otherwise treat its packet as
   * lost.
   */
  inProgressMs: 50,
  /**
   * The hub repeats a delivery that was not acknowledged for this long on a living connection: a fault dropped
   * it.
   */
  redeliverMs: 500,
  /** Maximum ids of finished packets that an agent remembers. Far more than can be under way to it. */
  doneIds: 10_000,
} as const;

/** Bounds of a job, see `core/system/process/jobs.ts`. */
export interface JobBounds {
  /** Time for one job, or from one report of it to the next. */
  readonly ms: number;
  /** Memory of its process besides what an idle one takes; JavaScript's heap may have two thirds of it. */
  readonly megabytes: number;
  /** Jobs that one process does in turn; a fresh one for each by default, so that none sees what another left. */
  readonly reuse?: number;
}

/** Bounds of the work that is done in processes of its own. */
export const JOB_LIMITS = {
  /** Jobs of a kind that run at the same time for one process; others wait. Two keep two cores busy. */
  atOnce: 2,
  /** Jobs of a kind that wait. Real use has far fewer; more are a loop. */
  waiting: 256,
  /** Time in which a process must be ready. It takes 0.1 to 0.5 s, and many times that on a busy machine. */
  startMs: 60_000,
  /** Time without work after which a process that is kept ends. */
  idleMs: 60_000,
  /** Bytes of an answer or report: as many as the text of a document, in which each letter may need an escape. */
  answerBytes: 2 * MAX_DOCUMENT_BYTES,
  /** Characters kept of the end of a process's output, which may explain why it ended, and of that explanation. */
  printedCharacters: 2000,
  reasonCharacters: 300,
  /**
   * A document. Spreadsheets of 100,000 rows and texts of 1,000 pages take a few seconds and a few 100 MB; only hostile
   * ones reach the bounds.
   */
  document: { ms: 60_000, megabytes: 800 },
  /** A document of a task in its agent: a library takes longer to load than most files take to read, so its process is kept. */
  taskDocument: { ms: 60_000, megabytes: 800, reuse: 100 },
  /** A table of questions: all of GAIA takes a tenth of this. */
  rows: { ms: 20_000, megabytes: 350 },
  /** A page of the web. Articles take a tenth of a second; only a page built to be slow takes this long. */
  page: { ms: 10_000, megabytes: 768 },
  webPdf: { ms: 30_000, megabytes: 768 },
  /** Text in an image: a page of small print takes some seconds. */
  image: { ms: 60_000, megabytes: 768 },
  /**
   * A calculation takes milliseconds, and less than one megabyte besides the 20 of its library: a longer one is a
   * mistake or a bomb.
   */
  calculation: { ms: 5_000, megabytes: 192, reuse: 100_000 },
  /**
   * SQL over a table, and reading the table: 200,000 rows take some seconds, and the largest sheets take half of the
   * memory. A statement that takes this long does not end by itself.
   */
  sql: { ms: 60_000, megabytes: 1536 },
  /** A check of an adapter. The slowest takes about a second; with code of quadratic time it would take hours. All take 100 MB. */
  contract: { ms: 60_000, megabytes: 1536 },
} as const satisfies Record<string, number | JobBounds>;

/** Bounds of files that tools read and fetch for a question. */
export const FILE_LIMITS = {
  /** Maximum files of a folder that are listed: far above the attachments of a question, and quickly listed. */
  listed: 1_000,
  /** Maximum bytes of a file, and of an unpacked member of an archive: a larger one does not fit the memory of its reader. */
  bytes: 64 * 1024 * 1024,
  /** Maximum members of an archive. Those of questions hold a few files; documents of hundreds of slides hold a few thousand parts. */
  members: 10_000,
  /** Maximum unpacked bytes of all members that are read. */
  unpackedBytes: 256 * 1024 * 1024,
  /** Maximum bytes of a download. Attachments of questions have some megabytes; data sets are too large for an agent to read. */
  downloadBytes: 50 * 1024 * 1024,
  /** Maximum bytes and number of all downloads of a task: an agent in a loop must not fill the disk. */
  downloadsBytes: 500 * 1024 * 1024,
  downloads: 200,
} as const;

/** Bounds of a program in Python. */
export const PYTHON_LIMITS = {
  /** Maximum seconds that a call may ask for; anything longer is a job and not a step of an answer. */
  seconds: 60,
  /** Maximum bytes of output passed to the model. */
  outputBytes: 100_000,
} as const;

/** Bounds of SQL over a table of a document. */
export const SQL_LIMITS = {
  /** Maximum characters of a statement. Statements of models have a few hundred. */
  characters: 10_000,
  /** Maximum columns of a table: each may get two more, and SQLite takes 2,000. */
  columns: 600,
  /** Maximum bytes of one value, so that no function builds endless texts or blobs. Cells have 32,767 characters. */
  valueBytes: 16 * 1024 * 1024,
  /** Maximum rows of a result that are counted: a sheet has at most 200,000, and a statement may produce endless rows. */
  rows: 1_000_000,
  /**
   * Maximum rows of a result that are shown, and their characters: a model that needs more asks for a part or an
   * aggregate.
   */
  rowsShown: 200,
  charactersShown: 100_000,
} as const;

/**
 * Maximum warnings of a run that are listed (further ones are counted), and characters of each text in them: a
 * person reads no more, and a server may send any number of faulty values.
 */
export const WARNING_LIMITS = { count: 100, characters: 400 } as const;

/** Bounds of the process that runs a model from a GGUF file. */
export const LLAMA_LIMITS = {
  /** Maximum bytes of a file's header up to the tokenizer, and its values: large models have some fifty values of a few bytes. */
  headerBytes: 16 * 1024 * 1024,
  headerValues: 10_000,
  /** Tokens of the context, unless the user sets another number or the model has fewer: the memory grows with them. */
  contextTokens: 8192,
  /** Tokens of a reply whose request sets no number: a longer one is a loop, or more than any role reads. */
  replyTokens: 2048,
  /**
   * Tokens that a model reads in one step. A continued conversation takes its earlier steps from memory and gets the same words.
   * Steps of half as many tokens take twice the time for each.
   */
  stepTokens: 64,
  /**
   * Maximum openings of prompts whose state is kept in files, and their bytes: teams have up to ten roles, and a model of 4 GB
   * keeps some 150 kB a token.
   */
  openings: 16,
  openingBytes: 1024 * 1024 * 1024,
  /** Time for one reply; the client's own limit is usually shorter. */
  replyMs: 30 * 60_000,
  /** Requests that wait for their turn: a run holds four permits, and several runs never share a process. */
  waiting: 64,
  /** Bytes of a request, far above any conversation that fits a context. */
  bodyBytes: 16 * 1024 * 1024,
  /** Characters of a prompt per token of the context. Longer prompts are refused uncounted: tokens are never this long on average. */
  charactersPerToken: 32,
  /** Parts of a message whose tokens are counted apart: a prompt has some twenty. */
  messageParts: 1_000,
  /** Pause between signs of life to a client whose reply has not begun. */
  heartbeatMs: 10_000,
  /** Time for the library's log to arrive after an error. */
  logMs: 200,
  /** Time to load a model; a disk takes a minute for one that fills the memory. */
  loadMs: 10 * 60_000,
  /** Memory besides weights and context: the library and its buffers. */
  overheadBytes: 256 * 1024 * 1024,
  /** A reply is in a loop if a cycle of at most `cycle` tokens repeats at its end this often and over this many tokens. */
  loop: { repeats: 6, tokens: 96, cycle: 64 },
} as const;

/**
 * Maximum bytes of a list of tools whose tokens are counted, and of a message of its server: the largest list of 79 public
 * servers has 0.1 MB.
 */
export const TOOL_LIST_BYTES = 8 * 1024 * 1024;

/** Bounds of `gaia blame`, which asks one question again and again. */
export const BLAME_LIMITS = {
  /** Maximum cost in tokens, as a multiple of the question's own: what a team of three spends on ten questions, tried once each. */
  cost: 30,
  /** Tries that clear a message: none right of 12 against none of 12 leaves room for a change of less than a quarter. */
  clearTries: 12,
  /** Maximum fresh tries on each side of a suspect, which show a fall from a quarter to none in nine of ten analyses. */
  freshTries: 40,
  /** Number of times at which fresh tries are looked at; each look has its part of the error rate. */
  looks: 2,
} as const;

/** Bounds of batches on a queue in Postgres, which several machines answer. */
export const QUEUE_LIMITS = {
  /** Maximum bytes of a question's file, which travels through the database. */
  fileBytes: 64 * 1024 * 1024,
  /** Maximum bytes of a batch's plan: as many questions as a file of them may have. */
  planBytes: 64 * 1024 * 1024,
  /** Attempts that are written in one transaction when a batch is queued, and read in one query when it is collected. */
  page: 5_000,
  /** Seconds without a sign of life after which a worker counts as gone; the least that the queue allows. */
  heartbeatS: 10,
  /** Milliseconds between signs of life: three fit into the time above. */
  touchMs: 3_000,
  /** Maximum tries of an attempt: a question that has ended three workers is not asked a fourth time. */
  tries: 3,
  /** Milliseconds between two looks at an empty queue: below the time of any question to a model. */
  pollMs: 250,
  /** Milliseconds between two looks for new batches and workers. */
  refreshMs: 2_000,
  /** Milliseconds for which a lost database is awaited: a restart takes seconds, a failover a minute. */
  patienceMs: 5 * 60_000,
  /** Milliseconds after which agents without a question are ended. */
  idleAgentsMs: 30_000,
  /** Maximum slots of a worker: each is a question that its agents work on. */
  slots: 256,
  /** Seconds of an attempt, whatever its worker says: the longest time limit that a question may have. */
  attemptS: 86_399,
} as const;

/** Bounds of the store. Those of its records are beside them (`tools/roles/memory/attempt.ts`). */
export const STORE_LIMITS = {
  /** Maximum distinct words of a gap record in the index, and of a question in a search, so that a query's size is bounded. */
  indexedTerms: 2_000,
  queryTerms: 100,
  /** Maximum characters of a term. A longer run of letters is not a word; Postgres refuses lexemes above 2046 bytes. */
  termCharacters: 64,
  /** Maximum attempts of a page. They are large, since they include their traces. */
  attemptsPerPage: 50,
  /** Maximum gap records of a brief: more than a planner weighs. */
  gapRecords: 50,
  /** Maximum gap records that the database proposes by type, and as many by words, for the final ranking. */
  gapCandidates: 200,
  /** Maximum answers of an export, which takes the newest ones, and of an import. */
  cacheEntries: 100_000,
  /** Maximum bytes of `agent_cache.json`, which is read as a whole: room for that many entries with long questions. */
  cacheFileBytes: 64 * 1024 * 1024,
  /** Time for which a busy SQLite file is retried; transactions of other processes take milliseconds. */
  busyTimeoutMs: 10_000,
  /**
   * Maximum connections of a process to Postgres. A store is used now and then, and hosted databases allow some dozens of
   * connections in all.
   */
  connections: 4,
  /** Timeout for connecting to a remote database, TLS included. */
  connectTimeoutMs: 10_000,
  /** Timeout of one statement. The largest attempt takes seconds over a slow line. */
  queryTimeoutMs: 60_000,
  /**
   * Maximum tries for an attempt's number. Attempts of one question recorded at the same moment contend for the next number, and
   * one of them succeeds in each round.
   */
  numberingTries: 50,
  /** Maximum files set aside under one name. A user who has ignored 1,000 of them will ignore the next. */
  setAside: 1_000,
} as const;
