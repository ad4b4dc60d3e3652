# The system's Python inside the sandbox: it drops its own rights, then handles requests, one JSON line each, from
# standard input. It follows python-driver.py in one text, before any of the user's code. Arguments: memory and file
# size in bytes.
import base64
import ctypes
import json
import resource
import struct

# Maximum seconds of computing in the life of one interpreter; the caller ends it long before.
CPU_SECONDS = 3600
OPEN_FILES = 64

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
SECCOMP_MODE_FILTER = 2
EPERM, ENOSYS = 1, 38
CLONE_THREAD = 0x00010000

# System calls by machine that start processes, change namespaces and mounts, look into other processes or the kernel,
# or take memory that no limit of a process counts; and sockets, since some kinds lead out of any namespace. The numbers
# are from the kernel's tables.
NEW_CALLS = [425, 428, 429, 430, 431, 432, 442, 447]
REFUSED = {
    "x86_64": [57, 58, 59, 322, 101, 310, 311, 272, 308, 165, 166, 155, 161, 321, 298, 323, 248, 249, 250, 175, 313, 246, 320, 304]
    + [319, 29, 68, 64, 240, 41] + NEW_CALLS,
    "aarch64": [221, 281, 117, 270, 271, 97, 268, 40, 39, 41, 51, 280, 241, 282, 217, 218, 219, 105, 273, 104, 294, 265]
    + [279, 194, 186, 190, 180, 198] + NEW_CALLS,
}
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = 435
X32 = 0x40000000


def limit(memory_bytes, file_bytes):
    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: CPU_SECONDS,
    }
    for kind, bound in limits.items():
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def refuse_calls():
    """Installs a filter of system calls (seccomp) that cannot be removed: no process can be started from here on."""
    machine = os.uname().machine
    if machine not in REFUSED:
        raise OSError("no filter of system calls is known for %s" % machine)
    load, equal, bits, at_least, reply = 0x20, 0x15, 0x45, 0x35, 0x06
    allow, refuse, absent, kill = 0x7FFF0000, 0x00050000 | EPERM, 0x00050000 | ENOSYS, 0x80000000
    steps = [
        (load, 0, 0, 4),
        (equal, 1, 0, AUDIT_ARCH[machine]),
        (reply, 0, 0, kill),
        (load, 0, 0, 0),
        # Another way to number the same calls.
        (at_least, 0, 1, X32),
        (reply, 0, 0, refuse),
        # The C library falls back to the older call, whose flags can be checked.
        (equal, 0, 1, CLONE3),
        (reply, 0, 0, absent),
    ]
    for number in REFUSED[machine]:
        steps += [(equal, 0, 1, number), (reply, 0, 0, refuse)]
    # Allows threads, but no processes.
    steps += [(equal, 0, 3, CLONE[machine]), (load, 0, 0, 16), (bits, 1, 0, CLONE_THREAD), (reply, 0, 0, refuse), (reply, 0, 0, allow)]
    program = b"".join(struct.pack("=HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("@HP", len(steps), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(header), 0, 0)):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "prctl %d: %s" % (arguments[0], os.strerror(ctypes.get_errno())))


def serve():
    limit(int(sys.argv[1]), int(sys.argv[2]))
    refuse_calls()
    # The code's own input is empty, separate from the requests; errors go where results are, in their order.
    requests = os.fdopen(os.dup(0), "rb", closefd=False)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(1, 2)
    # Output from before a time limit is worth keeping.
    sys.stdout.reconfigure(line_buffering=True)
    sys.path.insert(0, DESK)
    driver = Driver()
    for line in requests:
        request = json.loads(line)
        if "source" in request:
            request["source"] = base64.b64decode(request["source"])
        reply = {"status": "ok", "version": sys.version.split()[0]} if request["do"] == "hello" else driver.perform(request)
        frame = "\x1e%s %s\n" % (request["mark"], json.dumps(reply))
        rest = frame.encode()
        while rest:
            rest = rest[os.write(1, rest):]
    os._exit(0)


if __name__ == "__main__":
    serve()
