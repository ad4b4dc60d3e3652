import { type Command, Option } from 'commander';
import { dollars, portBase, positiveInteger, positiveNumber, severalOf } from './option-values.ts';

/** Options about teams and their mesh, of every command that has teams answer something. */
export function teamOptions(command: Command): Command {
  return command
    .option('--adapter <spec|file>', "protocol of the packets, instead of the team's: ADAPTER[+LAYER…]")
    .option('--engine <name|file>', "what does the thinking, instead of the team's")
    .option(
      '--tool <[which=]file>',
      'a tool of yours for the agents with that tool or id, e.g. extract=./mine.ts (more than once for several)',
      severalOf,
    )
    .option('--model <name>', 'model of the engine, where it has one')
    .option('--host <url>', 'where the model is served')
    .option(
      '--base-url <url>',
      'the same, of an OpenAI-compatible server (takes the engine openai if none is named)',
    )
    .option(
      '--replies <archive>',
      'instead of a model: what a model replied in this run to the same requests (more than once for several)',
      severalOf,
    )
    .addOption(
      new Option(
        '--tool-calls <how>',
        'auto, native or text: how a model calls tools; auto writes them as text where it knows no other way',
      ).choices(['auto', 'native', 'text']),
    )
    .option(
      '--context <tokens>',
      "the model's context, prompt and reply together (Ollama is told it; of other servers it is asked)",
      positiveInteger,
    )
    .option(
      '--engine-option <name=value>',
      'an option of the engine, e.g. temperature=0 or seed=7 (more than once for several)',
      severalOf,
    )
    .option('--timeout <seconds>', "time for one task, instead of the team's", positiveNumber)
    .option('--port-base <n|auto>', 'first port of the agents, or auto for any free ones', portBase)
    .option('--transport <name>', "tcp, or nats: over a NATS server; instead of the team's")
    .option('--nats-url <url>', 'the NATS server (default: NATS_URL, else nats://127.0.0.1:4222)')
    .option('--nats-subject <subject>', 'what its subjects begin with (default: gaia)')
    .option(
      '--faults <list>',
      "what to break, e.g. 'drop=1%,delay=20ms±10,kill=extract@3s' (also dup, corrupt, stall, partition, lie)",
    )
    .option('--fault-seed <n>', 'seed of the faults, to repeat a run that drew one', positiveInteger)
    .option('--restart <when>', 'on-failure: start agents again that died')
    .option(
      '--otlp <file|url>',
      'export spans and metrics of the run as OpenTelemetry has them: into a file, or to a collector',
    )
    .option(
      '--delivery <mode>',
      "at-most-once or acknowledged: nothing is lost when an agent is, instead of the team's",
    );
}

/** Options about many questions, each of them perhaps several times. */
export function batchOptions(command: Command): Command {
  command
    .option('--limit <n>', 'only the first n of the file', positiveInteger)
    .option('--resume', 'resume an interrupted run of the same set-up: what is finished is not asked again')
    .option(
      '--concurrency <k>',
      'tasks to run concurrently (default: 4; teams that learn or confer: 1)',
      positiveInteger,
    )
    .option(
      '--repeat <n>',
      'ask each n times, past the cache: pass@k, pass^k, score by cycle',
      positiveInteger,
      1,
    );
  return limitOptions(command);
}

/** What many questions, or one of them, may take. */
export function limitOptions(command: Command): Command {
  return command
    .option('--max-tokens <n>', 'ask no more when the run has taken so many', positiveInteger)
    .option('--max-cost <dollars>', '… or has cost so much', dollars)
    .option('--max-time <seconds>', '… or has lasted so long', positiveNumber)
    .option('--question-tokens <n>', 'most tokens of one question', positiveInteger)
    .option('--question-cost <dollars>', 'most cost of one question', dollars)
    .option('--question-time <seconds>', 'most time of one question', positiveNumber);
}
