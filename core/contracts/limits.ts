/**
 * Every bound of the mesh, in one place, with its reason. What a user may want to change is an option of the
 * command or of the team file; these are the defaults and the ceilings.
 */

/** Largest frame in bytes, prefix excluded (C-31). Checked before memory is taken for it. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/**
 * What a compressed packet may unpack to: so many times its own size, or {@link MIN_UNPACKED_BYTES} if that is more, and never more than a
 * frame. Tables, logs and lists of records reach 129 with the best of our compressors; what reaches more than twice that says the same
 * again and again, and is sent as it is. A frame of 2 kB could otherwise ask for 64 MiB of everybody who reads it.
 */
export const MAX_UNPACK_RATIO = 256;
/** Small packets may be as repetitive as they like: this much memory takes no time to fill. */
export const MIN_UNPACKED_BYTES = 1024 * 1024;

/**
 * Largest frame before the handshake has ended: whoever sends it has proved nothing yet. Room for the offers of a few hundred
 * members.
 */
export const MAX_HANDSHAKE_FRAME_BYTES = 256 * 1024;

/** Frames that do not fit a slab are read by as many agents at once as fit into this, and by one whatever its size. */
export const MAX_LARGE_FRAMES_BYTES = 4 * 1024 * 1024;

/** All large frames that have begun, the stalled ones among them: three of the largest. */
export const MAX_BEGUN_FRAMES_BYTES = 3 * MAX_FRAME_BYTES;

/** Of a frame that did not come on in this time nobody waits for the end. */
export const LARGE_FRAME_PATIENCE_MS = 100;

/** For each message of the handshake (see `core/system/process/patience.ts` for what counts). */
export const HANDSHAKE_TIMEOUT_MS = 5_000;

/** Connections that an agent lets wait in the handshake at once; for one more the oldest that has proved nothing is closed. */
export const MAX_PENDING_HANDSHAKES = 8;

/** An agent process must listen within this time of its start. Generous: five cold starts share two cores. */
export const AGENT_START_TIMEOUT_MS = 30_000;

/** An agent that was told to end is killed after this time. */
export const AGENT_STOP_TIMEOUT_MS = 2_000;

/** Agents have this long to hand in their books after the last task. */
export const SETTLE_TIMEOUT_MS = 5_000;

/**
 * Bytes that may wait for one destination before the hub stops reading from the sources (MP-22). What waits with the sources is there once,
 * what waits here is there for each destination and has left the caches before it goes on: four times as much was slower.
 */
export const MAX_LINK_QUEUE_BYTES = 1024 * 1024;

/** Packet types that are counted one by one, in a run and in a task; the rest share a line. A team has a few dozen. */
export const MAX_PACKET_TYPES = 1000;

/** A destination that takes nothing for this long while its queue is full is deregistered by name. */
export const STALL_TIMEOUT_MS = 10_000;

/** Packets that one agent works on at the same time; beyond it the agent stops reading (MP-53). */
export const MAX_CONCURRENT_PACKETS = 256;

/** Requests of one agent that wait for replies. A role asks a few at a time; a loop that asks without waiting is broken. */
export const MAX_OPEN_REQUESTS = 256;

/** Nesting of a payload. Deeper values overflow the stack of one decoder or another. */
export const MAX_PAYLOAD_DEPTH = 64;

/** Size of one `agent.log` or `hub.log`; what comes after is counted and named in the last line. */
export const MAX_LOG_BYTES = 256 * 1024 * 1024;

/** Documents are cut into chunks of this many characters (Unicode code points), the last one shorter (MP-21). */
export const CHUNK_CHARACTERS = 400;

/** A document in bytes. Far above any article, far below what would not fit a frame. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** A line of a task file or of an input of `evaluate`, in bytes. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** Time for one task, unless it is given another (C-30). */
export const DEFAULT_TASK_TIMEOUT_MS = 120_000;

/** Faults of one run. Far more than a person can keep apart. */
export const MAX_FAULTS = 100;

/** A fault happens at most this long after the first task's start, and takes at most this long: the longest time for a task. */
export const MAX_FAULT_TIME_MS = 86_400_000;

/** A delivery is delayed by at most this: longer than any task with the default timeout would survive. */
export const MAX_FAULT_DELAY_MS = 60_000;

/** Bytes of all deliveries that faults hold back at once; beyond it they go out before their time, and are counted. */
export const MAX_HELD_DELIVERY_BYTES = 64 * 1024 * 1024;

/** An agent that keeps dying is started again this often: what kills it three times is no accident. */
export const MAX_RESTARTS = 3;

/** Before an agent's first restart; doubled for each further one, so that a cause has time to pass. */
export const RESTART_BACKOFF_MS = 100;

/** An agent that somebody else is to start again is waited for so long, and that three times. */
export const RETURN_PATIENCE_MS = 20_000;

/**
 * Acknowledged delivery. Packets that an agent keeps until the hub has taken them over; beyond it, or beyond so many bytes, its work
 * waits before it sends. A few hundred are under way at the highest rates of real agents.
 */
export const MAX_OUTBOX_PACKETS = 1024;
export const MAX_OUTBOX_BYTES = 4 * 1024 * 1024;
/** Lines after which an outbox is written anew: an agent that is started again reads them one by one. */
export const MAX_OUTBOX_LINES = 1000;

/** Packets that were written to an agent which is not done with them: as many as it works on. More wait in its mailbox. */
export const DELIVERY_WINDOW = 256;

/** With more bytes than this in one mailbox the hub takes over nothing more, so that the outboxes fill and work waits. */
export const MAX_MAILBOX_BYTES = 8 * 1024 * 1024;

/** Acknowledgements wait so long for others, or for so many: each costs an envelope. */
export const ACK_DELAY_MS = 5;
export const MAX_ACK_IDS = 64;

/** Work that takes longer than this is told to the hub, which would otherwise take its packet for lost. */
export const IN_PROGRESS_AFTER_MS = 50;

/** A delivery of which nothing was heard for so long on a living connection was dropped by a fault, and is made again. */
export const REDELIVER_AFTER_MS = 500;

/** Packets that an agent remembers to be done with. Far more than can be under way to it. */
export const MAX_DONE_IDS = 10_000;

/** Characters of an SQL statement about a table. Those of models have a few hundred. */
export const MAX_SQL_CHARACTERS = 10_000;

/** Columns of a table for SQL: each may get two more, and SQLite takes 2,000. */
export const MAX_SQL_COLUMNS = 600;

/** Bytes of one value in SQL, so that no function makes texts or blobs without end. Cells have 32,767 characters. */
export const MAX_SQL_VALUE_BYTES = 16 * 1024 * 1024;

/** Rows of a result that are counted: a sheet has at most 200,000, and a statement may make rows without end. */
export const MAX_SQL_ROWS = 1_000_000;

/** Rows of a result that are shown, and their characters: a model that needs more asks for a part or an aggregate. */
export const MAX_SQL_ROWS_SHOWN = 200;
export const MAX_SQL_CHARACTERS_SHOWN = 100_000;

/** Reading a file and running SQL over it: 200,000 rows take some seconds; what takes this long does not end. */
export const SQL_TIMEOUT_MS = 60_000;

/** Memory of the process that does it, and of its JavaScript heap. The largest sheets take half of it. */
export const SQL_MEMORY_MB = 1536;
export const SQL_HEAP_MB = 768;
