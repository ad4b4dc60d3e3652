import * as z from 'zod';
import { ledgerLineSchema } from '../../contracts/ledger.ts';
import { modelSumsSchema } from '../../contracts/usage.ts';
import { runWarningSchema } from '../../contracts/warning.ts';
import { TASK_STATUSES } from '../../hub/tasks/task-clock.ts';
import { tokenLedgerSchema } from './token-ledger.ts';

const count = (description: string) => z.int().nonnegative().describe(description);
const textField = (description: string) => z.string().describe(description);
const meanField = (description: string) => z.number().min(0).max(1).nullable().describe(description);
const microsecondsField = (description: string) => z.number().describe(`microseconds ${description}`);

const volume = z
  .strictObject({ packets: count('deliveries'), bytes: count('bytes of their frames') })
  .meta({ id: 'volume', description: 'A number of deliveries and their bytes.' });

const answers = z
  .strictObject({
    tasks: count('tasks'),
    answered: count('tasks that have an answer'),
    right: z
      .int()
      .nonnegative()
      .nullable()
      .describe('right answers, by normalized_em; null where no true answer is known'),
  })
  .meta({ id: 'answers', description: 'How tasks ended.' });

const agent = z.strictObject({
  id: textField('its id'),
  tool: textField('its tool'),
  status: z.enum(['up', 'lost']).describe('whether it was there at the end'),
  fault: textField('why its connection ended, where the hub did not end it').optional(),
  packets_rx: count('packets from it'),
  bytes_rx: count('bytes of packets from it'),
  packets_tx: count('packets to it'),
  bytes_tx: count('bytes of packets to it'),
  tokens: count('tokens that it reported')
    .nullable()
    .describe('tokens that it reported; null for an agent that delegates to a foreign server or agent'),
  refused: count('packets from it that the hub refused, and packets to it that it refused itself'),
  session_bytes: count('bytes of handshake and ledger, both ways'),
  tool_us: z
    .number()
    .nonnegative()
    .nullable()
    .describe('microseconds in its tool, over all packets; null where it reported no ledger'),
});

const hop = z.strictObject({
  type: textField('type of the packet that arrived'),
  from: textField('id of its sender'),
  packets: count('packets of this type from it; over all hops that are recorded, pkt_cnt'),
  bytes: count('bytes of these packets; over all hops that are recorded, bytes_rx'),
  header_size: count('bytes around their payloads; over all hops that are recorded, header_overhead'),
  latency_us: z
    .strictObject({
      mean: z
        .int()
        .nonnegative()
        .nullable()
        .describe('microseconds, the mean: tool_us + mesh_us; null where no packet has a known cause'),
      median: z.int().nonnegative().nullable().describe('microseconds, the median'),
      p95: z
        .int()
        .nonnegative()
        .nullable()
        .describe('microseconds, the 95th percentile; null with fewer than 20 packets'),
    })
    .describe(
      'From the arrival of the packet that caused it, or from the start of the broadcast, to its own arrival at the hub.',
    ),
  tool_us: z
    .int()
    .nonnegative()
    .nullable()
    .describe(
      "microseconds in the sender's tool, the mean; null where it did not report that of every packet",
    ),
  mesh_us: z
    .int()
    .nonnegative()
    .nullable()
    .describe('microseconds outside of the tool, the mean; null where tool_us is'),
});

const time = z
  .strictObject({
    encode: microsecondsField('in adapters, writing packets'),
    relay: microsecondsField('in the hub, from the arrival of a packet until the hub begins to write it'),
    wire: microsecondsField('in system calls, kernel and event loops, between one process and the next'),
    decode: microsecondsField('in adapters, reading and checking packets'),
    tool: microsecondsField('in tools, without their engines'),
    engine: microsecondsField('in engines'),
    agent: microsecondsField('in agents around their tools: log and queue'),
    unknown: microsecondsField(
      'with agents that did not report what they did, or whose report does not fit the time between two arrivals at the hub',
    ),
    total: microsecondsField('in all: the sum of the parts'),
  })
  .nullable()
  .describe(
    'Where the time of the answered tasks went, summed over them; null where no task was answered or the recording ends before.',
  );

const ledger = z
  .strictObject({
    balanced: z.boolean().describe('whether every byte is accounted for; if not, the run is broken'),
    differences: z.array(z.string()).describe('where the sums do not agree, in words'),
    types: z
      .record(z.string(), ledgerLineSchema)
      .describe('one line for each packet type; each packet once, as its sender wrote it'),
    total: ledgerLineSchema.describe('the sum of the lines'),
    unbooked_bytes: count(
      'bytes from agents that reported no ledger, which the hub could not decode either: only their size is known',
    ),
    written: z
      .strictObject({
        packets: count('bytes of packets'),
        session: count('bytes of handshake and ledger'),
        acks: count('bytes of acknowledgements'),
        sockets: count('bytes that the sockets wrote, by their own count'),
      })
      .describe('What the hub wrote.'),
    read: z
      .strictObject({
        packets: count('bytes of packets'),
        session: count('bytes of handshake and ledger'),
        acks: count('bytes of acknowledgements'),
        refused: count('bytes of frames that were refused'),
        torn: count('bytes of frames that the end of a connection cut short'),
        repeated: count(
          'bytes of packets that had come before and were dropped; only with acknowledged delivery',
        ),
        sockets: count('bytes that the sockets read, by their own count'),
      })
      .describe('What the hub read.'),
    connection: z
      .strictObject({
        written: count('bytes that the hub wrote to it'),
        read: count('bytes that the hub read from it'),
      })
      .optional()
      .describe(
        'Only over NATS: what the hub’s one connection to the server carried until the ledger was closed. What is above `sockets` is of NATS: subjects, flow control, heartbeats, acknowledgements of its own.',
      ),
    faults: z
      .strictObject({
        offered: volume.describe('what the relay offered: delivered + dropped + undeliverable'),
        delivered: volume.describe('delivered'),
        dropped: volume.describe('dropped by a fault'),
        undeliverable: volume.describe('for agents that were gone'),
        duplicated: volume.describe(
          'written a second time; delivered + duplicated are the packets that were written',
        ),
        unsent_bytes: count('bytes for connections that ended before the system took them'),
      })
      .optional()
      .describe('Only in runs with injected faults.'),
  })
  .describe(
    'The bytes of the run. Written: packets + session + acks = sockets. Read: the same, with refused, torn and repeated.',
  );

const faults = z.strictObject({
  spec: z
    .string()
    .nullable()
    .describe('the faults as the user wrote them; null where only restarts were asked for'),
  seed: z.int().nonnegative().nullable().describe('the seed that repeats them'),
  restart: z.enum(['never', 'on-failure']).describe('whether agents that died were started again'),
  injected: z
    .strictObject({
      drop: count('deliveries'),
      delay: count('deliveries'),
      dup: count('deliveries'),
      corrupt: count('deliveries'),
      lie: count('deliveries'),
      kill: count('agents'),
    })
    .describe('What was injected, by kind.'),
  deliveries: z
    .strictObject({
      offered: volume.describe('what the relay offered'),
      delivered: volume.describe('delivered'),
      duplicated: volume.describe('written a second time'),
      dropped: volume.describe('dropped by a fault'),
      undeliverable: volume.describe('for agents that were gone'),
      delayed: volume.describe('delivered later'),
      early: volume.describe('of those, delivered before their time, because too many bytes were waiting'),
      corrupted: volume.describe('delivered with one bit turned over'),
      lied: volume.describe('delivered with an injected lie'),
    })
    .describe('Deliveries by their fate.'),
  timed: z
    .array(
      z.strictObject({
        fault: textField('the fault as the user wrote it'),
        kind: z.literal('kill').describe('its kind'),
        at_ms: z
          .int()
          .nonnegative()
          .nullable()
          .describe('milliseconds from the start of the first task; null where the run was over before'),
      }),
    )
    .describe('Faults with a time of their own.'),
  lost: z
    .array(
      z.strictObject({
        id: textField('id of the agent'),
        tool: textField('its tool'),
        dropped: count('packets dropped by a fault'),
        undeliverable: count('packets that came while it was gone'),
      }),
    )
    .describe('Packets that agents missed; agents that missed none are left out.'),
  recoveries: z
    .array(
      z.strictObject({
        agent: textField('id of the agent'),
        tool: textField('its tool'),
        lost_at_ms: count('milliseconds from the start of the first task'),
        back_at_ms: z.int().nonnegative().nullable().describe('the same; null where it did not come back'),
        took_ms: z.int().nonnegative().nullable().describe('milliseconds from its loss to its return'),
        attempts: count('starts that this took, failed ones among them'),
      }),
    )
    .describe('Losses of agents that were to be started again.'),
  answers: answers.describe('all tasks'),
  harmed: answers.describe('the tasks of which a delivery was lost, corrupted or false'),
});

const delivery = z.strictObject({
  mode: z.literal('acknowledged').describe('the delivery mode'),
  noted: count('deliveries: acknowledged + undeliverable + waiting'),
  acknowledged: count('deliveries that the recipient was done with'),
  undeliverable: count('deliveries to agents that did not come back'),
  waiting: count('deliveries of tasks that ended before they were acknowledged'),
  redelivered: count('deliveries that were made again'),
  dropped: count('packets that agents sent again, and the hub had'),
});

/**
 * Schema of `metrics.json`. The types of the code that fills it in and `docs/metrics.md` (`npm run docs`)
 * both come from here.
 */
export const metricsSchema = z.strictObject({
  schema_version: z.literal(1).describe('version of this file'),
  run_id: z
    .string()
    .regex(/^\d{8}-\d{6}-[0-9a-f]{6}$/)
    .describe('when the run began (UTC), and six hexadecimal digits that make it unique'),
  status: z.enum(TASK_STATUSES).describe('how the task ended; for a batch, the worst status of a task'),
  answer: z.string().nullable().describe('the final answer; null where there is none, and for a batch'),
  reason: textField('why there is no answer').optional(),
  adapter: textField('adapter of the packets, with its layers'),
  team: textField('name of the team'),
  engine: textField('the engine, with its model'),
  bytes_tx: count(
    'bytes that the hub wrote for packets: whole frames, each copy, the broadcast of the document among them',
  ),
  bytes_rx: count('bytes that the hub read of packets: whole frames'),
  pkt_cnt: count('packets that agents sent; the documents (doc_init) are the hub’s and not among them'),
  header_overhead: count('bytes of these packets that are framing, envelope or added by layers'),
  token_sum: count('tokens that agents reported with their packets'),
  ...modelSumsSchema.shape,
  token_ledger: tokenLedgerSchema
    .optional()
    .describe('where the tokens of prompts and replies went; there only in runs with a model'),
  elapsed_ms: z
    .number()
    .nonnegative()
    .describe('milliseconds from the broadcast to the final answer; of a batch, from its start to its end'),
  quality_score: meanField('mean of exact_match and rouge_l'),
  exact_match: meanField('1 where the answer is exactly the true one, white space around it aside'),
  rouge_l: meanField('ROUGE-L (F) of the answer'),
  normalized_em: meanField('exact match as SQuAD normalises it: case, punctuation and articles aside'),
  f1: meanField('F1 over words, as SQuAD has it'),
  token_source: z
    .enum(['embedded', 'model'])
    .describe('source of the token counts: the embedded engine (words read) or the model server'),
  init_bytes: count('bytes of bytes_tx that are the broadcast of the documents'),
  session_bytes: count('bytes of handshake and ledger, both ways'),
  ack_bytes: count('bytes of acknowledgements, both ways'),
  refused_packets: count('packets that the hub or an agent refused'),
  tasks: count('tasks that were tried, those that the cache answered among them'),
  answered: count('tasks that have an answer'),
  warnings: z
    .array(runWarningSchema)
    .describe(
      'What was lost of servers, agents and models outside of the mesh. A run with warnings says so in its last line; `--strict` makes it exit with 1.',
    ),
  agents: z.array(agent).describe('One entry for each agent.'),
  packet_types: z
    .record(
      z.string(),
      z.strictObject({
        packets: count('packets'),
        bytes_rx: count('bytes that the hub read'),
        bytes_tx: count('bytes that the hub wrote, each copy'),
        tokens: count('tokens that their senders reported'),
      }),
    )
    .describe('One entry for each packet type.'),
  hops: z.array(hop).describe('One entry for each step of the tasks: a packet type and its sender.'),
  time_us: time,
  recording: z
    .strictObject({
      packets: count('packets of agents that are recorded: pkt_cnt, where nothing is missing'),
      missing: z.array(z.string()).describe('what of the run is not recorded, in words'),
    })
    .describe('What the archive holds for `compare --recording`.'),
  ledger,
  network: z
    .strictObject({
      rtt_ms: z.number().nonnegative().describe('milliseconds of a round trip'),
      bits_per_s: z.number().positive().describe('bits a second in each direction'),
    })
    .optional()
    .describe('Only with `--network`: what stood between the hub and each agent.'),
  faults: faults.optional().describe('Only where faults or restarts were asked for.'),
  delivery: delivery
    .optional()
    .describe(
      'Only where deliveries are acknowledged. Each counts deliveries: a packet for three agents counts three times.',
    ),
});

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

/** `metrics.json`. A batch has sums over its tasks, and mean scores. */
export type RunMetrics = DeepReadonly<z.infer<typeof metricsSchema>>;

/** Scores of an answer by measure; null if no true answer is known. */
export type Scores = Readonly<Record<string, number | null>>;
