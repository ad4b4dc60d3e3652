import path from 'node:path';
import { mayHave } from '../../../core/system/platform.ts';
import { canBoundData, childNode, works } from '../child-node.ts';
import { GUARANTEES, type PythonBackend } from '../python/python-backend.ts';

/**
 * JavaScript (and TypeScript that Node takes as it is) in a Node process of its own that may read the task's files and the code in this
 * folder, and may write nothing and start nothing (`--permission`), with no variable of the parent's environment. What the permission
 * model leaves open, network and signals, is closed twice: by namespaces of its own where the machine has them, and by taking Node's
 * ways there away (shut-doors.ts). Heap, memory and processor time are bounded; the parent's clock ends what does not end.
 *
 * What it cannot promise: that Node has no fault. Without namespaces, network and signals are closed by that list alone.
 */
const HEAP_SHARE = 0.5;
/** Node's own code and what it sets aside, besides what the program takes. */
const DATA_MEGABYTES = 768;
/** Seconds of computing; whoever asked ends it long before. Holds where nobody is there any more. */
const CPU_SECONDS = 120;

const LIMITS = `ulimit -c 0; ulimit -t ${CPU_SECONDS}; exec "$@"`;
const NAMESPACES = ['--user', '--map-root-user', '--pid', '--net', '--ipc', '--fork', '--kill-child'];

let found: Promise<PythonBackend> | undefined;

/** How JavaScript is run here, and what holds. Looked for once. */
export function findJavascript(): Promise<PythonBackend> {
  found ??= look();
  return found;
}

async function look(): Promise<PythonBackend> {
  const [hasNamespaces, canBound] = await Promise.all([
    mayHave('namespaces') && works('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...NAMESPACES, 'true']),
    canBoundData(),
  ]);
  const { memory, network, signals, writes, ...others } = GUARANTEES;
  const held = [
    ...Object.values(others),
    'writes nothing',
    ...(hasNamespaces ? [network, signals] : []),
    ...(canBound ? [memory] : []),
  ];
  const missing = [
    ...(hasNamespaces
      ? []
      : [`${network}, and ${signals} (held by Node alone: there are no namespaces here)`]),
    ...(canBound
      ? []
      : [`${memory} (JavaScript's heap is bounded, and there is no prlimit to bound the rest)`]),
  ];
  return {
    name: 'node',
    version: process.version.slice(1),
    guarantees: held,
    missing,
    command({ files, memoryMegabytes, program: own }) {
      const { program, args, environment } = childNode('javascript/javascript-child', {
        readable: [...(files === undefined ? [] : [files + path.sep]), ...(own === undefined ? [] : [own])],
        heapMegabytes: Math.floor(memoryMegabytes * HEAP_SHARE),
        flags: ['--no-experimental-sqlite', '--no-addons'],
        args: [files ?? ''],
      });
      const bytes = (memoryMegabytes + DATA_MEGABYTES) * 1024 * 1024;
      const bound = canBound ? ['prlimit', `--data=${bytes}`, '--', program, ...args] : [program, ...args];
      const limited = ['sh', '-c', LIMITS, 'sh', ...bound];
      const [first = '', ...rest] = hasNamespaces
        ? ['setpriv', '--pdeathsig', 'KILL', 'unshare', ...NAMESPACES, ...limited]
        : limited;
      return Promise.resolve({ program: first, args: rest, environment, language: 'JavaScript' });
    },
  };
}
