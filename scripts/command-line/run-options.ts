import { type Command, Option } from 'commander';
import {
  collectTexts,
  parseDollars,
  parsePortBase,
  parsePositiveInteger,
  parsePositiveNumber,
} from './option-values.ts';

/** Adds options about teams and their mesh, for every command whose teams answer questions. */
export function addTeamOptions(command: Command): Command {
  return command
    .option('--adapter <spec|file>', 'encode packets with this protocol, as ADAPTER[+LAYER…]')
    .option('--engine <name|file>', "think with this engine instead of the team's")
    .option(
      '--tool <[which=]file>',
      'replace a tool by your file, e.g. extract=./mine.ts (repeatable)',
      collectTexts,
    )
    .option('--model <name>', 'use this model of the engine')
    .option('--host <url>', 'connect to the model server at this address')
    .option('--base-url <url>', 'connect to an OpenAI-compatible server, with the engine openai')
    .option('--replies <archive>', 'replay model replies from an earlier run (repeatable)', collectTexts)
    .addOption(
      new Option('--tool-calls <how>', 'choose how models call tools').choices(['auto', 'native', 'text']),
    )
    .option(
      '--context <tokens>',
      'set the context size (on Ollama; queried from other servers)',
      parsePositiveInteger,
    )
    .option(
      '--engine-option <name=value>',
      'set an engine option, e.g. temperature=0 (repeatable)',
      collectTexts,
    )
    .option('--timeout <seconds>', 'stop each task after this time', parsePositiveNumber)
    .option('--port-base <n|auto>', "start the agents' ports at this number, or anywhere free", parsePortBase)
    .option('--transport <name>', 'carry packets over tcp or nats')
    .option('--nats-url <url>', 'connect to this NATS server (default: NATS_URL, else nats://127.0.0.1:4222)')
    .option('--nats-subject <subject>', 'begin NATS subjects with this prefix (default: gaia)')
    .option('--faults <list>', "inject faults, e.g. 'drop=1%,delay=20ms±10,kill=extract@3s'")
    .option('--fault-seed <n>', 'repeat the faults of an earlier run by its seed', parsePositiveInteger)
    .option('--restart <when>', 'restart agents that died (on-failure)')
    .option('--otlp <file|url>', 'export OpenTelemetry traces and metrics')
    .option('--delivery <mode>', 'deliver packets at-most-once or acknowledged');
}

/** Adds options about many questions, each of which may be repeated. */
export function addBatchOptions(command: Command): Command {
  command
    .option('--limit <n>', 'stop after the first n tasks of the file', parsePositiveInteger)
    .option('--resume', 'continue an interrupted run and keep its finished tasks')
    .option('--concurrency <k>', 'run this many tasks at once (default: 4 or 1)', parsePositiveInteger)
    .option('--repeat <n>', 'ask each task this many times, without the cache', parsePositiveInteger, 1)
    .option('--strict', 'exit with 1 after any warning');
  return addLimitOptions(command);
}

/** Adds limits of a batch, or of one of its questions. */
export function addLimitOptions(command: Command): Command {
  return command
    .option('--max-tokens <n>', 'stop after this many tokens', parsePositiveInteger)
    .option('--max-cost <dollars>', 'stop after this many dollars', parseDollars)
    .option('--max-time <seconds>', 'stop after this many seconds', parsePositiveNumber)
    .option('--question-tokens <n>', 'limit the tokens of one question', parsePositiveInteger)
    .option('--question-cost <dollars>', 'limit the cost of one question', parseDollars)
    .option('--question-time <seconds>', 'limit the time of one question', parsePositiveNumber);
}
