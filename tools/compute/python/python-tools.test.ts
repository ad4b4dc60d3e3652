import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as XLSX from '@e965/xlsx';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { zipOf } from '../../files/testing/documents.ts';
import { type Call, RestrictedAgent, textOf } from '../fixtures/restricted-agent.ts';

describe('Python', () => {
  let agent: RestrictedAgent;
  beforeAll(async () => {
    agent = new RestrictedAgent();
    mkdirSync(path.join(agent.files, 'downloads'));
    writeFileSync(path.join(agent.files, 'sales.csv'), 'item,price\nänä,3\nb,4\n');
    writeFileSync(path.join(agent.files, 'downloads', 'extra.txt'), 'fetched');
    await repl('1'); // The first Pyodide of a workspace takes its time.
  }, 180_000);
  afterAll(() => agent.stop());

  const ask = (call: Omit<Call, 'options'>, options = {}) => agent.call({ ...call, options });
  const repl = (code: string, more: { taskId?: string; timeout_s?: number } = {}) => {
    const { taskId, ...input } = more;
    return ask({
      tool: 'python_repl',
      input: { code, ...input },
      taskId,
    });
  };
  const script = (file: string, text: string, input = {}) => {
    writeFileSync(path.join(agent.files, file), text);
    return ask({ tool: 'execute_python_file', input: { file, ...input } });
  };

  test('gives what is printed and the value of a last expression (RA-44, SV-11, SV-13, REQ-055)', async () => {
    const reply = await repl('import math\nprint("sum")\nsum(math.factorial(n) for n in range(20))');
    expect(reply).toEqual({
      text: 'sum\n128425485935180314\n',
      data: { status: 'ok', output_bytes: 23 },
    });
  });

  test('says so where nothing is printed, and prints no None', async () => {
    expect(textOf(await repl('quiet = 1'))).toBe('[nothing was printed]');
    expect(textOf(await repl('None'))).toBe('[nothing was printed]');
  });

  test('keeps names between the calls of a task, and apart from other tasks (RA-44)', async () => {
    await repl('total = 40');
    await repl('def more(n):\n    return total + n', { taskId: 'other' });
    expect(textOf(await repl('total += 2\ntotal'))).toBe('42\n');
    expect(textOf(await repl('more(1)', { taskId: 'other' }))).toContain(
      "NameError: name 'total' is not defined",
    );
  });

  test('an error is an answer with its traceback, and the names stay (RA-44)', async () => {
    const reply = await repl(
      'kept = 7\nprint("before")\ndef fail():\n    return 1 / 0\nfail()\nprint("after")',
    );
    expect(reply.data).toMatchObject({ status: 'error', error: 'ZeroDivisionError: division by zero' });
    expect(reply.text).toMatch(
      /^before\nTraceback[\s\S]*line 5, in <module>[\s\S]*in fail[\s\S]*return 1 \/ 0/,
    );
    expect(reply.text).not.toMatch(/after|driver/);
    expect(textOf(await repl('kept'))).toBe('7\n');
  });

  test.each([
    ['def f(:\n    pass', 'SyntaxError'],
    ['if True:\nprint(1)', 'IndentationError'],
    ['return 1', "SyntaxError: 'return' outside function"],
    ['x = "a\0b"', 'null bytes'],
  ])('%j is refused before anything of it runs (RA-54)', async (code, fault) => {
    const reply = await repl(`print("ran")\n${code}`);
    expect(reply.data).toMatchObject({ status: 'syntax_error', error: expect.stringContaining(fault) });
    expect(reply.text).toContain('[nothing was run: the code could not be parsed]');
    expect(reply.text).not.toMatch(/^ran/);
  });

  test('asynchronous code runs to its end', async () => {
    const code =
      'import asyncio\nasync def double(n):\n    await asyncio.sleep(0.01)\n    return 2 * n\nasync def main():\n    return await asyncio.gather(double(1), double(2))\nasyncio.run(main())';
    expect(textOf(await repl(code))).toBe('[2, 4]\n');
    expect(textOf(await repl('asyncio.run(main())'))).toBe('[2, 4]\n');
  });

  test('code that leaves is an answer, too: exit(0) is fine, exit(3) an error', async () => {
    expect((await repl('import sys\nprint("bye")\nsys.exit(0)')).data).toMatchObject({ status: 'ok' });
    expect((await repl('sys.exit("no data")')).data).toMatchObject({
      status: 'error',
      error: 'SystemExit: no data',
    });
  });

  test('there is no input to wait for', async () => {
    expect(textOf(await repl('input("name? ")'))).toContain('EOFError');
  });

  test('input that is given is read, by cells and by scripts, and then there is none', async () => {
    const code = 'name = input()\n[name, input(), sys.stdin.read()]';
    const reply = await ask({
      tool: 'python_repl',
      input: { code: `import sys\n${code}`, input: 'Ana\n7\nrest\nof it' },
    });
    expect(textOf(reply)).toBe("['Ana', '7', 'rest\\nof it']\n");
    expect(textOf(await repl('input()'))).toContain('EOFError');
    const sum = 'import sys\nprint(sum(int(line) for line in sys.stdin) * int(sys.argv[1]))';
    expect(textOf(await script('sum.py', sum, { input: '1\n2\n3\n', arguments: ['10'] }))).toBe('60\n');
  });

  test('what it lacks is said with what is there in its place', async () => {
    const reply = await repl('import pandas as pd\npd.read_csv("sales.csv")');
    expect(reply.data).toMatchObject({
      status: 'error',
      error: "ModuleNotFoundError: No module named 'pandas'",
    });
    expect(reply.text).toMatch(/\[pandas is not installed[\s\S]*tables\.read\("file\.xlsx"/);
    expect(textOf(await repl('import nothing_like_it'))).toContain('[nothing_like_it is not installed');
  });

  test('spreadsheets are rows by the module tables', async () => {
    const workbook = XLSX.utils.book_new(
      XLSX.utils.aoa_to_sheet([
        ['Item', 'Price'],
        ['a', 1.5],
        ['b', 2],
      ]),
      'One',
    );
    XLSX.utils.book_append_sheet(workbook, XLSX.utils.aoa_to_sheet([['n'], [7]]), 'Two');
    writeFileSync(path.join(agent.files, 'book.xlsx'), XLSX.write(workbook, { type: 'buffer' }));
    const code =
      'import tables\nprint(tables.sheets("book.xlsx"), tables.read("book.xlsx", "two"))\nsum(row["Price"] for row in tables.read("book.xlsx"))';
    expect(textOf(await repl(code))).toBe("['One', 'Two'] [{'n': 7}]\n3.5\n");
    expect(textOf(await repl('tables.read("sales.csv")[0]["price"]'))).toBe('3\n');
    expect(textOf(await repl('tables.read("none.xlsx")'))).toContain('there is no spreadsheet none.xlsx');
  });

  test('finds the task’s files in its folder, those from downloads too, and new ones later', async () => {
    expect(
      textOf(
        await repl(
          'import csv\n[row["item"] for row in csv.DictReader(open("sales.csv", encoding="utf-8"))]',
        ),
      ),
    ).toBe("['änä', 'b']\n");
    expect(textOf(await repl('open("extra.txt").read()'))).toBe("'fetched'\n");
    writeFileSync(path.join(agent.files, 'later.txt'), 'came later');
    expect(textOf(await repl('open("later.txt").read()'))).toBe("'came later'\n");
  });

  test('code is stopped after its time, what it had printed is told, and the next call works (RA-44)', async () => {
    const reply = await repl('print("begun", flush=True)\nwhile True:\n    pass', { timeout_s: 1 });
    expect(reply).toMatchObject({
      code: 'tool',
      message: expect.stringMatching(/stopped after 1 s.*timeout_s[\s\S]*begun/),
    });
    const next = textOf(await repl('"kept" in globals()'));
    expect(next).toBe(
      'False\n[the names of earlier calls are gone: the call before this one ended the interpreter]',
    );
    expect(textOf(await repl('2'))).toBe('2\n');
  });

  test('output is cut, and says by how much', async () => {
    const reply = await repl('print("x" * 99_990)\nprint("y" * 100_000)');
    expect(reply.data).toMatchObject({ status: 'ok', output_bytes: 199_992 });
    expect(reply.text).toHaveLength(100_000 + '\n[cut: 99992 more bytes were printed]'.length);
    expect(reply.text).toMatch(/y\n\[cut: 99992 more bytes were printed\]$/);
  });

  test('the reply of the driver cannot be printed by the code', async () => {
    expect(
      textOf(await repl('print("\\x1e" + "0" * 32 + \' {"status": "ok"}\')\nprint("still here")')),
    ).toContain('still here');
  });

  test('text of all kinds comes whole', async () => {
    expect(textOf(await repl('print("ä€😀\\u0000", "\\ud800".encode("utf-8", "replace"))'))).toBe(
      "ä€😀\0 b'?'\n",
    );
  });

  test('calls of one task are run in their order', async () => {
    await repl('order = []');
    const calls = [1, 2, 3, 4, 5].map((n) => repl(`order.append(${n})\norder`));
    const [, , , , last] = await Promise.all(calls);
    expect(last?.text).toBe('[1, 2, 3, 4, 5]\n');
  });

  test('four interpreters are kept, and a task whose interpreter had to make room is told so; two compute at a time, others wait', async () => {
    const others = ['p1', 'p2', 'p3', 'p4'];
    await repl('name = 1', { taskId: 'first' });
    for (const taskId of others) await repl('kept = 1', { taskId });

    const code =
      'import time\nbegun = time.time()\nwhile time.time() < begun + 0.3: pass\n[kept, begun, time.time()]';
    const replies = await Promise.all(others.map((taskId) => repl(code, { taskId })));
    const spans: [number, number, number][] = replies.map((reply) => JSON.parse(textOf(reply)));
    const atOnce = spans.map(
      ([, begun]) => spans.filter(([, from, to]) => from <= begun && begun < to).length,
    );
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(2);

    const text = textOf(await repl('"name" in globals()', { taskId: 'first' }));
    expect(text).toMatch(/^False\n\[the names of earlier calls are gone: other tasks needed the room/);
  });

  test('a run that has ended ends the code, and what waits for its turn', async () => {
    const end = new AbortController();
    const busy = agent.call({
      tool: 'python_repl',
      input: { code: 'while True: pass' },
      taskId: 'a',
      signal: end.signal,
    });
    const waiting = agent.call({
      tool: 'python_repl',
      input: { code: '1' },
      taskId: 'a',
      signal: end.signal,
    });
    end.abort();
    for (const call of [busy, waiting]) {
      expect(await call).toMatchObject({ code: 'tool', message: expect.stringContaining('the run ended') });
    }
  });

  test('runs a script with its arguments, as a program of its own (RA-39)', async () => {
    writeFileSync(path.join(agent.files, 'helper.py'), 'FACTOR = 3\n');
    const reply = await script(
      'app.py',
      'import sys, helper\nif __name__ == "__main__":\n    print(sys.argv[1:], int(sys.argv[1]) * helper.FACTOR, open("sales.csv").readline())\n',
      { arguments: ['14', '; rm -rf $(pwd)'] },
    );
    expect(reply.data).toMatchObject({ status: 'ok' });
    expect(reply.text).toBe("['14', '; rm -rf $(pwd)'] 42 item,price\n\n");
  });

  test('runs a script of an archive, which finds the files of the task (RA-39)', async () => {
    const source = 'print(__file__, open("sales.csv").readline())\n';
    writeFileSync(path.join(agent.files, 'code.zip'), await zipOf({ 'src/run.py': source }));
    const reply = await ask({ tool: 'execute_python_file', input: { file: 'code.zip/src/run.py' } });
    expect(textOf(reply)).toBe('/files/code.zip/src/run.py item,price\n\n');
  });

  test('a script knows nothing of the REPL or of the run before (RA-39)', async () => {
    await repl('leftover = 1');
    await script('fresh.py', 'open("note.txt", "w").write("x")\nleftover = 2');
    const reply = await script(
      'fresh.py',
      'import os\nprint("leftover" in globals(), os.path.exists("note.txt"))',
    );
    expect(textOf(reply)).toBe('False False\n');
  });

  test('a script that fails gives its traceback with its own lines', async () => {
    const reply = await script('bad.py', 'values = {}\nprint(values["key"])\n');
    expect(reply.data).toMatchObject({ status: 'error', error: "KeyError: 'key'" });
    expect(reply.text).toMatch(/File "\/files\/bad\.py", line 2[\s\S]*print\(values\["key"\]\)/);
  });

  test('an endless script is stopped, one that prints without an end is cut and stopped (RA-39)', async () => {
    expect(await script('loop.py', 'while True: pass', { timeout_s: 1 })).toMatchObject({
      code: 'tool',
      message: expect.stringContaining('stopped after 1 s'),
    });
    const flood = await script('flood.py', 'while True: print("x" * 65536)', { timeout_s: 60 });
    expect(flood).toMatchObject({
      code: 'tool',
      message: expect.stringContaining('printed more than 64 MB'),
    });
    expect(flood.message?.length).toBeLessThan(5_000);
  });

  test('a script that does not parse is refused before it runs (RA-54)', async () => {
    expect((await script('broken.py', 'print("ran")\nprint(')).data).toMatchObject({
      status: 'syntax_error',
    });
  });

  test('a script in another encoding says so itself', async () => {
    writeFileSync(
      path.join(agent.files, 'latin.py'),
      Buffer.from('# -*- coding: latin-1 -*-\nprint("\xe4")\n', 'latin1'),
    );
    expect(textOf(await ask({ tool: 'execute_python_file', input: { file: 'latin.py' } }))).toBe('ä\n');
  });

  test('a file that is not there, or outside, is refused', async () => {
    symlinkSync('/etc/passwd', path.join(agent.files, 'link.py'));
    for (const [file, fault] of [
      ['none.py', 'there is no file none.py'],
      ['../secret.py', 'leads out of the folder'],
      ['link.py', 'outside'],
    ]) {
      const reply = await ask({ tool: 'execute_python_file', input: { file: file ?? '' } });
      expect(reply).toMatchObject({ message: expect.stringMatching(fault ?? '') });
      expect(reply.code).not.toBe('bug');
    }
  });

  test('limits of the team file hold, and those that cannot be are refused (REQ-082)', async () => {
    const tooMuch = await ask(
      { tool: 'python_repl', input: { code: 'len(bytearray(600_000_000))' }, taskId: 'small' },
      { python_memory_mb: 512 },
    );
    expect(tooMuch.data).toMatchObject({ status: 'error', error: 'MemoryError' });
    const tooLong = await ask(
      { tool: 'python_repl', input: { code: 'while True: pass' }, taskId: 'small' },
      { python_timeout_s: 0.5 },
    );
    expect(tooLong.message).toContain('stopped after 0.5 s');
    for (const [name, value] of [
      ['python_timeout_s', 0],
      ['python_timeout_s', 60.1],
      ['python_memory_mb', 255],
      ['python_memory_mb', 8193],
    ] as const) {
      const absurd = await ask({ tool: 'python_repl', input: { code: '1' } }, { [name]: value });
      expect(absurd).toMatchObject({ code: 'config', message: expect.stringContaining(name) });
    }
  });

  test('the task’s files are as they were after all this', () => {
    expect(readFileSync(path.join(agent.files, 'sales.csv'), 'utf8')).toBe('item,price\nänä,3\nb,4\n');
  });
});
