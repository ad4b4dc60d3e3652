import { NETWORK_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { DELIVERIES, TRANSPORTS } from '@gaia-mesh/core/contracts/team.ts';
import { NETWORK_FORMS, parseNetwork } from '@gaia-mesh/core/transports/network/network.ts';
import * as z from 'zod';
import {
  amount,
  choice,
  flag,
  type OptionNeed,
  option,
  optionFacts,
  output,
  port,
  portBase,
  seconds,
  storeAddress,
  text,
  texts,
  wholeNumber,
} from './option-table.ts';

/** A network, by its text. */
export const network = option(
  '<name>',
  `add a network between ends: ${NETWORK_FORMS}`,
  text
    .refine(
      (name) => parseNetwork(name) !== undefined,
      `expected ${NETWORK_FORMS}, with a round trip of at most ${NETWORK_LIMITS.rttMs} ms.`,
    )
    .optional(),
);

/** Options about teams and their mesh, for every command whose teams answer questions. */
export const teamShape = {
  adapter: option('<spec|file>', 'encode packets with this protocol, as ADAPTER[+LAYER…]', text.optional()),
  engine: option('<name|file>', "think with this engine instead of the team's", text.optional()),
  tool: option(
    '<[which=]file>',
    'replace a tool by your file, e.g. extract=./mine.ts (repeatable)',
    texts.optional(),
  ),
  model: option('<name>', 'use this model of the engine', text.optional()),
  fallbackModel: option('<name>', 'ask this second model when the first one fails', text.optional(), {
    engineOption: 'fallback_model',
  }),
  host: option('<url>', 'connect to the model server at this address', text.optional()),
  baseUrl: option('<url>', 'connect to an OpenAI-compatible server, with the engine openai', text.optional()),
  replies: option('<archive>', 'replay model replies from an earlier run (repeatable)', texts.optional()),
  toolCalls: option('<how>', 'choose how models call tools', choice(['auto', 'native', 'text']).optional(), {
    engineOption: 'tool_calls',
  }),
  context: option(
    '<tokens>',
    'set the context size (on Ollama; queried from other servers)',
    wholeNumber.optional(),
    { engineOption: 'context' },
  ),
  engineOption: option(
    '<name=value>',
    'set an engine option, e.g. temperature=0 (repeatable)',
    texts.optional(),
  ),
  timeout: option('<seconds>', 'stop each task after this time', seconds.optional()),
  portBase: option(
    '<n|auto>',
    "start the agents' ports at this number, or anywhere free",
    portBase.optional(),
  ),
  transport: option('<name>', 'carry packets over tcp or nats', choice(TRANSPORTS).optional()),
  natsUrl: option(
    '<url>',
    'connect to this NATS server (default: NATS_URL, else nats://127.0.0.1:4222)',
    text.optional(),
  ),
  natsSubject: option('<subject>', 'begin NATS subjects with this prefix (default: gaia)', text.optional()),
  faults: option('<list>', "inject faults, e.g. 'drop=1%,delay=20ms±10,kill=extract@3s'", text.optional()),
  faultSeed: option('<n>', 'repeat the faults of an earlier run by its seed', wholeNumber.optional()),
  restart: option('<when>', 'restart agents that died (on-failure)', choice(['on-failure']).optional()),
  otlp: option('<file|url>', 'export OpenTelemetry traces', output.file.optional()),
  network,
  delivery: option('<mode>', 'deliver packets at-most-once or acknowledged', choice(DELIVERIES).optional()),
};

/** The options that set an engine option of all agents, each with its name. */
export const engineShorthands: ReadonlyMap<keyof typeof teamShape, string> = new Map(
  (Object.keys(teamShape) as (keyof typeof teamShape)[]).flatMap((key): [typeof key, string][] => {
    const name = optionFacts.get(teamShape[key])?.engineOption;
    return name === undefined ? [] : [[key, name]];
  }),
);

/** Options of the command line that override every team's file. */
export type TeamOptions = z.output<z.ZodObject<typeof teamShape>> & {
  readonly concurrency?: number | undefined;
  readonly scorer?: string | undefined;
  /** True if workers, with servers and keys of their own, answer the questions. */
  readonly queue?: boolean | undefined;
};

type Needs<Shape> = readonly OptionNeed<keyof Shape & string>[];

/** The rules for options about teams, on every command that has them. */
export const teamNeeds: Needs<typeof teamShape> = [
  { options: ['baseUrl'], excludes: ['host'], why: 'both name the model server' },
  { options: ['faultSeed'], needs: ['faults'], why: 'the seed repeats the faults of an earlier run' },
  {
    options: ['natsUrl', 'natsSubject'],
    excludes: ['transport=tcp'],
    why: 'they go with --transport nats',
  },
  {
    options: ['portBase>0'],
    excludes: ['transport=nats', 'natsUrl', 'natsSubject'],
    why: 'agents on NATS listen on no port',
  },
];

/** The rules for options about models, on commands whose `--replies` is the engine of all agents. */
export const repliesNeeds: Needs<typeof teamShape> = [
  {
    options: ['model', 'host', 'baseUrl', 'engineOption', ...engineShorthands.keys()],
    excludes: ['replies'],
    why: 'recorded replies are an engine of their own, which calls no model',
  },
];

/** Limits of a batch, or of one of its questions. */
export const limitShape = {
  maxTokens: option('<n>', 'stop after this many tokens', wholeNumber.optional()),
  maxCost: option('<dollars>', 'stop after this many dollars', amount('US dollars').optional()),
  maxTime: option('<seconds>', 'stop after this many seconds', seconds.optional()),
  questionTokens: option('<n>', 'limit the tokens of one question', wholeNumber.optional()),
  questionCost: option('<dollars>', 'limit the cost of one question', amount('US dollars').optional()),
  questionTime: option('<seconds>', 'limit the time of one question', seconds.optional()),
};

export type LimitOptions = z.output<z.ZodObject<typeof limitShape>>;

export const concurrency = option(
  '<k>',
  'run this many tasks at once (default: 4 or 1)',
  wholeNumber.optional(),
);

/** Options about many questions, each of which may be repeated. */
export const batchShape = {
  limit: option('<n>', 'stop after the first n tasks of the file', wholeNumber.optional()),
  resume: flag('continue an interrupted run and keep its finished tasks'),
  concurrency,
  repeat: option('<n>', 'ask each task this many times, without the cache', wholeNumber.default(1)),
  strict: flag('exit with 1 after any warning'),
  ...limitShape,
};

/** Options that every run has. */
export type RunOptions = TeamOptions &
  LimitOptions &
  Pick<z.output<z.ZodObject<typeof batchShape>>, 'resume' | 'repeat'> & {
    readonly cache?: boolean | undefined;
    readonly store?: string | undefined;
  };

/** Options of a command that can check its comparison against conditions. */
export const demandShape = {
  failIf: option('<condition...>', "exit with 1 if true, e.g. 'a2a.bytes > 2.5x json'", texts.optional()),
  junit: option('<file>', 'write the conditions as a JUnit report', output.file.optional()),
  summary: option('<file>', 'write a Markdown summary for pull requests', output.file.optional()),
  saveBaseline: option('<file>', 'save this comparison as a baseline', output.file.optional()),
  baseline: option('<file>', "compare with a saved baseline, for --fail-if '… 1.1x saved'", text.optional()),
};

/** Options of a command that can be followed in the browser. */
export const watchShape = {
  watch: option(
    '[port]',
    'serve a live page of the run',
    z.union([z.literal(true), port], 'expected a port from 1 to 65535.').optional(),
  ),
  open: flag('open the live page in your browser'),
};

export const watchNeeds: Needs<typeof watchShape> = [
  { options: ['open'], needs: ['watch'], why: 'there is no page to open without it' },
];

export const store = option(
  '<file|url>',
  'keep attempts and cached answers in this database',
  storeAddress.optional(),
);
