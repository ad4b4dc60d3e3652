# The driver inside Pyodide; it follows python-driver.py in one text. Its setup is part of the snapshot that
# interpreters start from.
import base64

# The modules that code uses most: having them in the snapshot saves each interpreter their compilation.
import bisect, calendar, collections, copy, csv, datetime, decimal, fractions, functools, hashlib, heapq, io, itertools, json, math
import operator, pathlib, random, re, statistics, string, textwrap, time, typing
import dataclasses

import asyncio
import time

JAVASCRIPT = ("js", "pyodide_js", "pyodide", "_pyodide", "_pyodide_core", "pyodide_fetch")

class Clock:
    """The selector of the event loop; there is nothing to wait for."""

    def select(self, timeout):
        time.sleep(timeout or 0)
        return []


class Loop(asyncio.BaseEventLoop):
    """Runs to its end on request: Pyodide's own loop would continue in JavaScript after the call."""

    def __init__(self):
        super().__init__()
        self._selector = Clock()

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass


def run(main, *, debug=None, loop_factory=Loop):
    if not isinstance(asyncio._get_running_loop(), Loop):
        # Pyodide's own loop claims always to be running.
        asyncio._set_running_loop(None)
    return asyncio.runners.run(main, debug=debug, loop_factory=loop_factory)


asyncio.run = run
driver = Driver()
for sample in ("def f(:", "1/0"):
    try:
        exec(sample)
    except Exception as error:
        traceback.format_exception(error)


def shut_doors():
    """Removes the names that lead from Python to JavaScript. The ways that remain lead into an empty realm."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if "pyodide" not in type(finder).__module__]
    for name in list(sys.modules):
        if name.split(".")[0] in JAVASCRIPT:
            sys.modules[name] = None


def begin():
    """Runs once per interpreter: sets up what a snapshot cannot hold, since it would be the same in all interpreters."""
    random.seed()
    os.chdir(DESK)
    sys.path.insert(0, DESK)
    shut_doors()


def perform(text):
    request = json.loads(text)
    if request["do"] == "hello":
        return json.dumps({"status": "ok"})
    if "source" in request:
        request["source"] = base64.b64decode(request["source"])
    return json.dumps(driver.perform(request))
