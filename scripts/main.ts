import { Command, CommanderError } from 'commander';
import { packageVersion } from '../config/package-root.ts';
import { MeshError, systemCodeOf } from '../core/errors.ts';
import { exitCodeOf, USAGE_EXIT } from './exit-code.ts';
import { dollars } from './gaia/dollars.ts';
import { portBase, positiveInteger, positiveIntegers, positiveNumber } from './option-values.ts';

/**
 * The command line: one entry point, a subcommand a job. Each command's code is loaded when it is asked for: an agent
 * starts four times in every run and must not load what it does not need.
 */
const program = new Command('gaia-mesh')
  .description('A local benchmark of agent protocols and agent architectures.')
  .version(packageVersion)
  .exitOverride()
  .configureHelp({ showGlobalOptions: true })
  .showSuggestionAfterError()
  .showHelpAfterError('with --help it says what it takes');

program
  .command('bench')
  .description('start the agents, let them answer, write metrics.json and run_artifacts.tar.gz')
  .option('--team <name|file>', 'team of agents', 'pipeline')
  .option('--adapter <spec>', "protocol of the packets, instead of the team's: ADAPTER[+LAYER…]")
  .option('--engine <name>', "what does the thinking, instead of the team's")
  .option('--model <name>', 'model of the engine, where it has one')
  .option('--host <url>', 'where the model is served')
  .option(
    '--task <name|folder>',
    'a task that ships with the project, or a folder with document.txt and ground_truth.json',
  )
  .option('--document <file>', 'your own document (text or Markdown)')
  .option('--question <text>', 'your question about it')
  .option('--answer <text>', 'the true answer, if you want it scored')
  .option('--tasks <file>', 'many tasks, a JSON line each: task_id, question, document, answer, aliases')
  .option('--limit <n>', 'only the first n of them', positiveInteger)
  .option('--concurrency <k>', 'tasks on their way at the same time', positiveInteger, 4)
  .option('--resume', 'go on where a run of the same tasks was broken off: what is finished is not repeated')
  .option('--scorer <name>', "further measures, instead of the team's scorer")
  .option('--out <dir>', 'folder for the results (default: the project root)')
  .option('--port-base <n|auto>', 'first port of the agents, or auto for any free ones', portBase)
  .option('--timeout <seconds>', 'time for one task', positiveNumber)
  .option('--external <ids>', 'agents that you started yourself, e.g. 2 or 1,2')
  .option('--transport <name>', "tcp, or nats: over a NATS server; instead of the team's")
  .option('--nats-url <url>', 'the NATS server (default: NATS_URL, else nats://127.0.0.1:4222)')
  .option('--nats-subject <subject>', 'what its subjects begin with (default: gaia)')
  .option(
    '--faults <list>',
    "what to break, e.g. 'drop=1%,delay=20ms±10,kill=extract@3s' (also dup, corrupt, stall, partition)",
  )
  .option('--fault-seed <n>', 'seed of the faults, to repeat a run that drew one', positiveInteger)
  .option('--restart <when>', 'on-failure: start agents again that died')
  .option(
    '--delivery <mode>',
    "at-most-once or acknowledged: nothing is lost when an agent is, instead of the team's",
  )
  .option(
    '--record',
    'record the packets, for replay and compare: always on, every archive holds a recording',
  )
  .option('--json', 'print the metrics (of tasks: the summary) as one JSON value')
  .option('--quiet', 'print the result only')
  .action(async (options) => (await import('./commands/bench.ts')).bench(options));

program
  .command('gaia')
  .description('have a file of questions answered by teams of agents, scored, and set side by side')
  .option('--team <names>', 'team, several of them (a,b), or all', 'supervisor')
  .option('--questions <file>', "questions, a JSON line each: GAIA's metadata.jsonl, or task_id, question, …")
  .option('--files <dir>', 'folder with their files (default: that of the questions)')
  .option('--api <url>', 'scoring API: gives questions and files, takes the answers')
  .option('--random', 'one random question of the scoring API')
  .option('--limit <n>', 'only the first n questions', positiveInteger)
  .option('--adapter <spec>', "protocol of the packets, instead of the team's: ADAPTER[+LAYER…]")
  .option('--engine <name>', "what does the thinking, instead of the team's")
  .option('--model <name>', 'model of the engine, where it has one')
  .option('--host <url>', 'where the model is served')
  .option(
    '--base-url <url>',
    'the same, of an OpenAI-compatible server (takes the engine openai if none is named)',
  )
  .option(
    '--out <file>',
    'the answers, a JSON line each (default: runs/gaia/answers.jsonl in the project root)',
  )
  .option('--submission <file>', 'save what a scoring API is sent, and send it if there is one')
  .option('--username <name>', 'who submits (default: HF_USERNAME)')
  .option('--agent-code <url>', 'where the code of the agents is, for the submission')
  .option('--resume', 'go on where a run of the same set-up was broken off')
  .option(
    '--concurrency <k>',
    'questions on their way at once (default: 4; overseer and panel 1)',
    positiveInteger,
  )
  .option(
    '--repeat <n>',
    'ask each question n times, past the cache: pass@k, pass^k, score by cycle',
    positiveInteger,
    1,
  )
  .option('--max-tokens <n>', 'ask no more questions when the run has taken so many', positiveInteger)
  .option('--max-cost <dollars>', '… or has cost so much', dollars)
  .option('--max-time <seconds>', '… or has lasted so long', positiveNumber)
  .option('--question-tokens <n>', 'most tokens of one question', positiveInteger)
  .option('--question-cost <dollars>', 'most cost of one question', dollars)
  .option('--question-time <seconds>', "time for one question, instead of the team's", positiveNumber)
  .option('--store <file|url>', 'attempts, gap records and cached answers (default: beside the answers)')
  .option('--no-cache', 'ask for answers that are in the cache, too')
  .option('--cache-file <file>', 'a {question: answer} file to take into the cache, and to write it to')
  .option('--port-base <n|auto>', 'first port of the agents, or auto for any free ones', portBase)
  .option('--write', 'in a checkout: write the figures to docs/gaia-results.md')
  .option('--json', 'print the summary as one JSON value')
  .action(async (options) => (await import('./commands/gaia.ts')).gaia(options));

program
  .command('agent')
  .description('run one agent in this terminal, for a hub that dials it')
  .requiredOption('--id <id>', 'node id, e.g. 2')
  .requiredOption('--tool <name>', 'its one tool')
  .option('--port <n>', 'where it listens on 127.0.0.1; 0 takes any free port', Number)
  .option('--transport <name>', 'tcp, or nats: it is reached over a NATS server', 'tcp')
  .option('--nats-url <url>', 'the NATS server (default: NATS_URL, else nats://127.0.0.1:4222)')
  .option('--nats-subject <subject>', 'what its subjects begin with (default: gaia)')
  .option('--nats-outboxes <subject>', 'what subjects of outboxes begin with, where that is something else')
  .option('--adapter <spec>', 'refuse a hub that speaks another protocol')
  .option('--adapter-file <file...>', 'adapters of your own, which a hub may then choose by their names')
  .option('--engine <name>', 'what does the thinking', 'extractive')
  .option('--model <name>', 'model of the engine, where it has one')
  .option('--host <url>', 'where the model is served')
  .option('--engine-options <json>', 'options for the engine, e.g. \'{"seed":1}\'')
  .option('--timeout <seconds>', 'time for one request to a model server', positiveNumber)
  .option('--subscribes <types>', 'packet types it works on, instead of its tool’s')
  .option('--partners <id:tool,…>', 'agents that it may ask')
  .option('--options <json>', 'options for its tool, as in the team file')
  .option('--prompt <file>', 'its prompt, instead of the tool’s own')
  .option('--files <dir>', 'folder of the tasks’ files')
  .option('--store <file|url>', 'where attempts are kept, for a tool that has to do with them')
  .option('--workspace <dir>', 'its folder (default: workspaces/<id>)')
  .option('--resume', 'go on with the memory that an agent left there which died')
  .action(async (options) => (await import('./commands/agent.ts')).agent(options));

program
  .command('hub')
  .description(
    'run the hub alone, for agents that you started: dials, relays, and counts until it is told to end',
  )
  .requiredOption('--ports <numbers>', 'where the agents listen on 127.0.0.1, e.g. 9000,9001,9002')
  .option('--adapter <spec>', 'protocol of the packets', 'json')
  .option('--routing <name>', 'broadcast or direct', 'broadcast')
  .option('--handshake <on|off>', 'off: foreign agents that speak packets from the first byte on', 'on')
  .option('--wait <seconds>', 'time for agents that do not listen yet', positiveNumber, 10)
  .option('--stall-timeout <seconds>', 'an agent that takes no bytes for so long is cut off', positiveNumber)
  .action(async (options) => (await import('./commands/hub.ts')).hub(options));

program
  .command('evaluate')
  .description('score predictions: lines {prediction, truth, aliases?} in, one JSON line each out')
  .requiredOption('--scorer <name>', 'exact_rouge, squad, bleu or gaia')
  .requiredOption('--input <file>', 'JSONL file; - for standard input')
  .option('--json', 'print JSON lines (the default)')
  .action(async (options) => (await import('./commands/evaluate.ts')).evaluate(options));

program
  .command('wire')
  .description(
    'write packets as an adapter does, read them back, or say what their bytes are for; lines in, lines out',
  )
  .argument('<what>', 'encode (packets as JSON lines in, blobs out), decode (the reverse) or ledger')
  .requiredOption('--adapter <spec>', 'ADAPTER[+LAYER…], e.g. msgpack+zstd+ed25519')
  .option('--hex', 'blobs in hexadecimal (the default)')
  .option('--base64', 'blobs in base64')
  .option('--session <file>', 'keys that encode and decode share; made on first use, readable by you alone')
  .option('--keys <file>', 'the same, of your own: it is only read')
  .action(async (what, options) => (await import('./commands/wire.ts')).wire(what, options));

program
  .command('prompt-test')
  .description(
    'try a changed prompt beside the one that ships, on fixtures: what each passes, how replies differ',
  )
  .argument('<prompt>', 'name of the prompt, as in config/prompts, e.g. plan')
  .requiredOption('--with <file>', 'the changed prompt')
  .option('--fixtures <file>', 'cases of your own, a JSON line each: name, variables, expect')
  .option('--engine <name>', 'an engine with a model', 'ollama')
  .option('--model <name>', 'model of the engine')
  .option('--host <url>', 'where the model is served')
  .option('--json', 'print the results as one JSON value')
  .action(async (prompt, options) => (await import('./commands/prompt-test.ts')).promptTest(prompt, options));

program
  .command('logs')
  .description("print the agents' and the hub's logs of the last run, merged in order of time")
  .option('--out <dir>', 'folder of the run (default: the project root)')
  .option('--task <id>', 'only the lines of one task')
  .option('--payloads', 'print what the packets say, too')
  .option('--json', 'print the JSON lines as they are')
  .action(async (options) => (await import('./commands/logs.ts')).logs(options));

program
  .command('list')
  .description('list what there is to choose from')
  .argument('<what>', 'adapters, layers, tools, engines, teams, tasks or scorers')
  .option('--json', 'print a JSON array')
  .action(async (what, options) => (await import('./commands/list.ts')).list(what, options));

program
  .command('doctor')
  .description('check what this machine has: Node, ports, permission model, Ollama, disk')
  .option('--json', 'print the findings as JSON')
  .action(async (options) => (await import('./commands/doctor.ts')).doctor(options));

program
  .command('compare')
  .description(
    'compare adapters on the same recorded packets: bytes, time with intervals and a null test, prompt tokens',
  )
  .option(
    '--adapters <names>',
    'adapters, the baseline first, e.g. json,msgpack,json+zstd,./my-adapter.ts (default: all)',
  )
  .option('--recording <archive>', 'run_artifacts.tar.gz of a run (default: the default run, recorded now)')
  .option('--teams <names>', 'record a run of each of these teams instead of the default one')
  .option('--engines <names>', '… on each of these engines')
  .option(
    '--agents <numbers>',
    'replay to so many agents, e.g. 4,16,64: those that were not recorded just listen',
  )
  .option('--budget <seconds>', 'time for all rounds', positiveNumber, 60)
  .option('--rounds <n>', 'most rounds', positiveInteger, 200)
  .option('--seed <n>', 'seed of the order and of the bootstrap', positiveInteger, 1)
  .option('--fail-if <condition...>', "exit with 1 if it holds, e.g. 'a2a.bytes > 2.5x json'")
  .option('--junit <file>', 'write the conditions as a JUnit report')
  .option('--out <dir>', 'folder for comparison.json, .csv, .md and report.html (default: the project root)')
  .option('--write', 'write them to docs/comparison.md, with what HTTP and TLS would add')
  .option('--json', 'print the comparison as one JSON value')
  .action(async (options) => (await import('./commands/compare.ts')).compare(options));

program
  .command('conformance')
  .description('run the contract suite on an adapter of yours, and say what fails')
  .argument('<file>', 'a file that exports a ProtocolAdapter, or the name of an adapter')
  .option('--json', 'print the results as one JSON value')
  .action(async (file, options) => (await import('./commands/conformance.ts')).conformance(file, options));

program
  .command('fuzz')
  .description('throw hostile bytes at framing, adapters, layers, handshake and hub; say what breaks')
  .option('--minutes <n>', 'time for all targets', positiveNumber, 1)
  .option(
    '--seed <n>',
    'the same cases as with this seed (default: a random one, which is printed)',
    positiveInteger,
  )
  .option('--target <name...>', 'only these, e.g. framing, adapter:json, layer')
  .option('--path <path>', 'only the case that a failure printed, with its --target and --seed')
  .option('--json', 'print the results as one JSON value')
  .action(async (options) => (await import('./commands/fuzz.ts')).fuzz(options));

program
  .command('replay')
  .description("play an archived run's packets again, through any adapter, over real sockets and processes")
  .argument('<archive>', 'run_artifacts.tar.gz of a run')
  .option('--adapter <name>', 'protocol of the packets', 'json')
  .option('--tool-time <factor>', 'recorded, zero, or a factor of it', 'zero')
  .option('--rounds <n>', 'times to play it', positiveInteger, 1)
  .option('--timeout <seconds>', 'time for one task', positiveNumber)
  .option('--json', 'print the result as one JSON value')
  .action(async (archive, options) => (await import('./commands/replay.ts')).replay(archive, options));

program
  .command('report')
  .description('write runs and a comparison as one HTML page that opens from disk and loads nothing')
  .argument(
    '[archives...]',
    'run_artifacts.tar.gz of runs; several are set against the first (default: the last run)',
  )
  .option('--comparison <file>', 'comparison.json of a comparison')
  .option('--gaia <file>', 'answers of a batch of questions (or its journal): its page again, as it is now')
  .option(
    '--out <file>',
    'the page (default: report.html in the project root; with --gaia beside the answers)',
  )
  .action(async (archives, options) => (await import('./commands/report.ts')).report(archives, options));

program
  .command('perf')
  .description(
    'measure the default run, a batch of tasks, how often the embedded engine is right, and the relay',
  )
  .option('--json', 'print the figures as JSON')
  .option('--questions <file>', 'questions to score the embedded engine on (default: the shipped ones)')
  .option('--write', 'write them to docs/results.md and README.md (with --relay: docs/relay.md)')
  .option('--relay', 'only the hub, whole, against other hubs and the brokers that are installed')
  .option('--no-relay', 'all but that')
  .option(
    '--rounds <n>',
    'of the relay: rounds, in which each target carries each load once',
    positiveInteger,
  )
  .option('--quick', 'with --relay: four agents and small packets only, as without it')
  .action(async (options) => (await import('./commands/perf.ts')).perf(options));

program
  .command('soak')
  .description('flood the hub for a while, kill and stall agents, and say whether every book balances')
  .option('--minutes <n>', 'time for all rounds, at most', positiveNumber, 2)
  .option('--packets <n>', 'packets for all rounds, at most', positiveInteger)
  .option('--seed <n>', 'seed of the mishaps (default: a random one, which is printed)', positiveInteger)
  .option('--agents <n>', 'synthetic agents', positiveInteger, 8)
  .option('--processes <n>', 'processes that host them', positiveInteger, 4)
  .option('--rounds <n>', 'rounds, each with a handshake of its own', positiveInteger, 10)
  .option('--json', 'print the result as one JSON value')
  .action(async (options) => (await import('./commands/soak.ts')).soak(options));

program
  .command('scale')
  .description('measure set-up, throughput and memory of the hub for growing numbers of agents')
  .option('--agents <numbers>', 'points of the curve', '4,16,64,256')
  .option('--seconds <n>', 'time of each flood', positiveNumber, 5)
  .option('--json', 'print the points as one JSON value')
  .option('--write', 'write them to docs/scale.md')
  .action(async (options) => (await import('./commands/scale.ts')).scale(options));

program
  .command('delivery')
  .description('measure what acknowledged delivery costs beside the default, in bytes and time')
  .option('--rounds <n>', 'runs of each', positiveInteger, 9)
  .option('--tasks <n>', 'tasks of a run', positiveInteger, 40)
  .option('--json', 'print the figures as one JSON value')
  .option('--write', 'write them to docs/delivery.md')
  .action(async (options) => (await import('./commands/delivery.ts')).delivery(options));

program
  .command('swarm', { hidden: true })
  .requiredOption('--agents <id:part,…>', 'synthetic agents to host')
  .action(async (options) => (await import('./commands/swarm.ts')).swarm(options));

program
  .command('transports')
  .description('measure what a NATS server costs against TCP: the same run and the same frames over both')
  .option('--recording <archive>', 'run_artifacts.tar.gz of a run (default: the default run, recorded now)')
  .option('--nats-url <url>', 'a server that runs already (default: one is started: nats-server)')
  .option('--rounds <n>', 'rounds of each', positiveInteger, 40)
  .option('--seed <n>', 'seed of the order and of the bootstrap', positiveInteger, 1)
  .option('--json', 'print the figures as JSON')
  .option('--write', 'write them to docs/nats.md')
  .action(async (options) => (await import('./commands/transports.ts')).transports(options));

program
  .command('far-end', { hidden: true })
  .description('the other process of transports')
  .option('--transport <name>', 'tcp or nats', 'tcp')
  .option('--nats-subject <subject>', 'what its subjects begin with')
  .action(async (options) => (await import('./commands/far-end.ts')).farEnd(options));

program
  .command('gaps')
  .description('show what the overseer learned from wrong answers, and decide about what waits for a person')
  .option('--store <file|url>', 'the store (default: the one beside the answers)')
  .option(
    '--out <file>',
    'the answers, as gaia was told (default: runs/gaia/answers.jsonl in the project root)',
  )
  .option('--all', 'show also what waits for nobody')
  .option('--approve <id...>', 'let these inform later plans', positiveIntegers)
  .option('--reject <id...>', 'let these inform nobody', positiveIntegers)
  .option('--json', 'print the records as one JSON value')
  .action(async (options) => (await import('./commands/gaps.ts')).gaps(options));

program
  .command('clean')
  .description('delete the results of runs (metrics, archive, workspaces, older runs) and of gaia')
  .option('--out <dir>', 'folder of the runs (default: the project root)')
  .action(async (options) => (await import('./commands/clean.ts')).clean(options));

program
  .command('schema', { hidden: true })
  .description('print the JSON Schema of the team file')
  .action(async () => (await import('./commands/schema.ts')).schema());

for (const command of program.commands) command.exitOverride();

// Whoever read the output has seen enough (`| head`): not worth a stack trace, and no reason to break off a run.
process.stdout.on('error', onClosedPipe);
process.stderr.on('error', onClosedPipe);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has said what is wrong; help and version end here too, with 0.
    process.exitCode = error.exitCode === 0 ? 0 : USAGE_EXIT;
  } else if (error instanceof MeshError) {
    console.error(`gaia-mesh: ${error.message}`);
    process.exitCode = exitCodeOf(error);
  } else {
    throw error;
  }
}

function onClosedPipe(error: Error): void {
  if (systemCodeOf(error) !== 'EPIPE') throw error;
}
