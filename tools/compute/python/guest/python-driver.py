# Runs requests inside the sandbox, before and around the user's code. The code may do anything with this driver: it
# holds no secrets, and its caller treats all its output as data.
import ast
import builtins
import io
import linecache
import os
import sys
import traceback

FILES = "/files"
DESK = "/desk"
# Maximum links to the task's files; more would take longer to make than the code to run.
MAX_LINKS = 1000
MAX_ERROR_CHARACTERS = 2000


class Driver:
    """One interpreter: cells that share their names, or a script of its own."""

    def __init__(self):
        self.names = {"__name__": "__main__", "__builtins__": builtins}
        self.cells = 0

    def perform(self, request):
        self.link_files()
        # Without input, reading finds its end at once.
        sys.stdin = io.TextIOWrapper(io.BytesIO(request.get("input", "").encode("utf-8", "replace")), "utf-8")
        if "tables" in request:
            TABLES.files = request["tables"]
        if request["do"] == "cell":
            return self.cell(request["code"])
        return self.script(request["path"], request["source"], request["arguments"])

    def cell(self, code):
        """Parses the whole code first, then runs it, and prints the value of a last expression as a REPL does."""
        self.cells += 1
        name = "<cell %d>" % self.cells
        try:
            tree = ast.parse(code, name, "exec")
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            steps = [compile(tree, name, "exec")]
            if last is not None:
                steps.append(compile(ast.Interactive([last]), name, "single"))
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            return self.refusal(error)
        self.remember(name, code)
        return self.run(steps, self.names)

    def script(self, path, source, arguments):
        try:
            steps = [compile(source, path, "exec")]
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            return self.refusal(error)
        sys.argv = [path, *arguments]
        sys.path.insert(0, os.path.dirname(path))
        self.remember(path, source.decode("utf-8", "replace"))
        return self.run(steps, {"__name__": "__main__", "__file__": path, "__builtins__": builtins})

    def run(self, steps, names):
        try:
            for step in steps:
                exec(step, names)
            return {"status": "ok"}
        except SystemExit as leaving:
            if leaving.code is None or leaving.code == 0:
                return {"status": "ok"}
            return {"status": "error", "error": self.short("SystemExit: %s" % (leaving.code,))}
        except BaseException as error:
            # The traceback leaves out the driver's own frames.
            own = error.__traceback__.tb_next if error.__traceback__ else None
            print("".join(traceback.format_exception(type(error), error, own)), end="", file=sys.stderr)
            lacking = {"lacking": self.short(error.name or "")} if isinstance(error, ModuleNotFoundError) else {}
            return {"status": "error", "error": self.last_line(error), **lacking}
        finally:
            self.flush()

    def refusal(self, error):
        text = "".join(traceback.format_exception_only(type(error), error))
        print(text, end="", file=sys.stderr)
        self.flush()
        return {"status": "syntax_error", "error": self.last_line(error)}

    def last_line(self, error):
        return self.short(traceback.format_exception_only(type(error), error)[-1].strip())

    def short(self, text):
        return text.encode("utf-8", "replace").decode("utf-8")[:MAX_ERROR_CHARACTERS]

    def flush(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                # The code may have closed or replaced it.
                pass

    def remember(self, name, text):
        """Registers the source, so that tracebacks show its lines."""
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)

    def link_files(self):
        """Links the task's files by their plain names beside the code's own files; the code can delete a link, not the file."""
        links = 0
        for folder in (FILES, os.path.join(FILES, "downloads")):
            for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
                place = os.path.join(DESK, name)
                if links < MAX_LINKS and not os.path.lexists(place):
                    os.symlink(os.path.join(folder, name), place)
                    links += 1
