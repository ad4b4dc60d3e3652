/** The realm's interface to the process around it. Only numbers, texts and bytes pass in either direction. */
interface RealmHost {
  readonly now: () => number;
  /** Returns `count` random bytes in Base64. */
  readonly random: (count: number) => string;
  /** Returns a file of Pyodide's. */
  readonly asset: (name: string) => Uint8Array;
  /** Prints the code's output. */
  readonly print: (bytes: Uint8Array) => void;
  /** Receives Pyodide's own error messages. */
  readonly complain: (text: string) => void;
  /** Returns one of the task's files. */
  readonly file: (name: string) => Uint8Array;
  readonly soon: (callback: () => void) => void;
}

/** The part of Pyodide that is used here: its own types need the globals of a browser. */
interface Pyodide {
  readonly FS: {
    readonly ErrnoError: new (code: number) => Error;
    readonly mkdirTree: (path: string) => void;
    readonly writeFile: (path: string, bytes: Uint8Array) => void;
    readonly filesystems: { readonly MEMFS: { readonly ops_table: { readonly file: FileOperations } } };
  };
  readonly globals: { readonly get: (name: string) => (...values: unknown[]) => unknown };
  readonly runPython: (code: string) => unknown;
  readonly makeMemorySnapshot: () => Uint8Array;
  readonly setStdin: (input: object) => void;
  readonly setStdout: (output: object) => void;
  readonly setStderr: (output: object) => void;
}

interface FileNode {
  readonly contents?: { readonly length: number } | null;
}

interface FileOperations {
  readonly node: { setattr: (node: FileNode, changes: { readonly size?: number }) => unknown };
  readonly stream: {
    write: (
      stream: { readonly node: FileNode },
      bytes: unknown,
      offset: number,
      length: number,
      position: number,
      owns: unknown,
    ) => unknown;
  };
}

interface RealmStart {
  readonly loadPyodide: (options: object) => Promise<Pyodide>;
  readonly createModule: unknown;
  readonly lockFile: string;
  readonly assets: string;
  readonly driver: string;
  /** Maximum bytes that the code may write: to one file, and to all files ever written. */
  readonly fileBytes: number;
  readonly writtenBytes: number;
  /** The memory of a started interpreter, made with `makesSnapshot`. */
  readonly snapshot: Uint8Array | undefined;
  readonly makesSnapshot: boolean;
}

interface Realm {
  readonly start: (start: RealmStart) => Promise<Uint8Array | undefined>;
  /** Copies files of the task into the realm; files that no longer exist stay. */
  readonly copy: (names: readonly string[]) => void;
  /** Performs a request; request and reply are JSON texts. */
  readonly perform: (request: string) => string;
}

/**
 * Creates the environment for Pyodide in a fresh JavaScript realm (a context of `node:vm`), which has only the language:
 * no process, no require, no fetch, no sockets, no files. The *text* of this function runs there, so that it must stand
 * alone, and it never passes on the host's own objects, since they would lead to the realm outside.
 */
export function openRealm(host: RealmHost): Realm {
  // Keeps the originals before the code could replace them.
  const Bytes = Uint8Array;
  const Fault = Error;
  /** Calls the host and hides the host's errors. */
  const asked = <Value>(what: string, ask: () => Value): Value => {
    try {
      return ask();
    } catch {
      throw new Fault(`${what} is not to be had`);
    }
  };
  // The constructor copies: neither the view nor its buffer is the host's.
  const inner = (bytes: Uint8Array) => new Bytes(bytes);

  class Decoder {
    readonly #isWide: boolean;
    constructor(label = 'utf-8') {
      this.#isWide = /16/.test(label);
    }
    decode(view?: ArrayBufferView | ArrayBuffer): string {
      if (view === undefined) return '';
      const bytes = ArrayBuffer.isView(view)
        ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
        : new Uint8Array(view);
      const parts: string[] = [];
      let codes: number[] = [];
      const put = (code: number) => {
        codes.push(code);
        if (codes.length < 4096) return;
        parts.push(String.fromCharCode(...codes));
        codes = [];
      };
      for (let at = 0; at < bytes.length; ) {
        const first = bytes[at++] ?? 0;
        if (this.#isWide) {
          put(first | ((bytes[at++] ?? 0) << 8));
          continue;
        }
        const more = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        let point = more === 0 ? first : first & (0x3f >> more);
        let isWhole = first < 0x80 || more > 0;
        for (let left = more; left > 0 && isWhole; left--) {
          const next = bytes[at] ?? 0;
          isWhole = (next & 0xc0) === 0x80;
          if (!isWhole) break;
          point = (point << 6) | (next & 0x3f);
          at++;
        }
        if (!isWhole || point > 0x10ffff) point = 0xfffd;
        if (point < 0x10000) put(point);
        else {
          put(0xd800 + ((point - 0x10000) >> 10));
          put(0xdc00 + ((point - 0x10000) & 0x3ff));
        }
      }
      return parts.join('') + String.fromCharCode(...codes);
    }
  }

  class Encoder {
    encode(text = ''): Uint8Array {
      const bytes: number[] = [];
      for (const sign of text.toWellFormed()) {
        const point = sign.codePointAt(0) ?? 0;
        if (point < 0x80) bytes.push(point);
        else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 0x3f));
        else if (point < 0x10000)
          bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
        else {
          bytes.push(
            0xf0 | (point >> 18),
            0x80 | ((point >> 12) & 0x3f),
            0x80 | ((point >> 6) & 0x3f),
            0x80 | (point & 0x3f),
          );
        }
      }
      return Uint8Array.from(bytes);
    }
    encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
      const bytes = this.encode(text).subarray(0, target.length);
      target.set(bytes);
      return { read: text.length, written: bytes.length };
    }
  }

  const say = (...words: unknown[]) => asked('a message', () => host.complain(String(words.join(' '))));
  let isLoading = true;
  Object.assign(globalThis, {
    TextDecoder: Decoder,
    TextEncoder: Encoder,
    performance: { now: () => asked('the time', () => host.now()) },
    console: { log: say, warn: say, error: say, info: say, debug: say },
    // Nothing runs between calls: work that the code defers is never done.
    setTimeout: (callback: () => void) => {
      if (isLoading) asked('a timer', () => host.soon(() => callback()));
      return 0;
    },
    clearTimeout: () => undefined,
    // Pyodide takes a realm with these functions for a bare engine, from which it requires no others.
    read: () => {
      throw new Error('there is nothing to read');
    },
    load: () => {
      throw new Error('there is nothing to load');
    },
    readbuffer: (name: unknown) => asked('a file', () => inner(host.asset(String(name)))).buffer,
    os: {
      system: (_shell: unknown, words: readonly unknown[]) => {
        const count = Number(/-c([0-9]+)/.exec(words.join(' '))?.[1] ?? 16);
        return asked('a random number', () => host.random(count));
      },
    },
    importNothing: () => {
      throw new Fault('there is nothing to import');
    },
  });

  let pyodide: Pyodide | undefined;
  const running = () => {
    if (pyodide === undefined) throw new Error('Pyodide has not started');
    return pyodide;
  };

  /**
   * Bounds files, which live in JavaScript's memory, outside every limit of WebAssembly. Deleted files count, too: they
   * may still be open.
   */
  const boundFiles = ({ FS }: Pyodide, fileBytes: number, writtenBytes: number) => {
    const { node, stream } = FS.filesystems.MEMFS.ops_table.file;
    const { setattr } = node;
    const { write } = stream;
    let written = 0;
    const sizeOf = (file: FileNode) => file.contents?.length ?? 0;
    const check = (file: FileNode, size: number) => {
      const [tooLarge, full] = [22, 51];
      if (size > fileBytes) throw new FS.ErrnoError(tooLarge);
      if (written + size - sizeOf(file) > writtenBytes) throw new FS.ErrnoError(full);
    };
    node.setattr = (file, changes) => {
      if (changes.size !== undefined) check(file, changes.size);
      const before = sizeOf(file);
      const result = setattr(file, changes);
      written += Math.max(0, sizeOf(file) - before);
      return result;
    };
    stream.write = (opened, bytes, offset, length, position, owns) => {
      if (isCopying) return write(opened, bytes, offset, length, position, owns);
      const file = opened.node;
      check(file, position + length);
      const before = sizeOf(file);
      const result = write(opened, bytes, offset, length, position, owns);
      // The buffer grows ahead, so that it is larger than was requested.
      written += Math.max(0, sizeOf(file) - before);
      return result;
    };
  };
  let isCopying = false;

  return {
    async start({
      loadPyodide,
      createModule,
      lockFile,
      assets,
      driver,
      fileBytes,
      writtenBytes,
      snapshot,
      makesSnapshot,
    }) {
      pyodide = await loadPyodide({
        indexURL: assets,
        createPyodideModule: createModule,
        lockFileContents: JSON.parse(lockFile),
        jsglobals: Object.create(null),
        _loadSnapshot: snapshot && inner(snapshot),
        _makeSnapshot: makesSnapshot,
      });
      isLoading = false;
      if (makesSnapshot) {
        pyodide.runPython(driver);
        return pyodide.makeMemorySnapshot();
      }
      const stream = {
        isatty: false,
        write: (bytes: Uint8Array) => {
          asked('the output', () => host.print(new Bytes(bytes)));
          return bytes.length;
        },
      };
      pyodide.setStdout(stream);
      pyodide.setStderr(stream);
      pyodide.setStdin({ stdin: () => undefined });
      for (const folder of ['/files', '/desk', '/tmp']) pyodide.FS.mkdirTree(folder);
      boundFiles(pyodide, fileBytes, writtenBytes);
      pyodide.globals.get('begin')();
      return undefined;
    },
    copy(names) {
      const { FS } = running();
      isCopying = true;
      try {
        for (const name of names) {
          const place = `/files/${name}`;
          FS.mkdirTree(place.slice(0, place.lastIndexOf('/')));
          FS.writeFile(
            place,
            asked(name, () => inner(host.file(name))),
          );
        }
      } finally {
        isCopying = false;
      }
    },
    perform(request) {
      return String(running().globals.get('perform')(request));
    },
  };
}
