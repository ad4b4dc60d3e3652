# Tries, from inside the sandbox, everything that the sandbox must stop. Prints one JSON object: each guarantee's name
# with true or what got through.
import ctypes
import json
import os
import signal
import socket

given = json.loads(probe)
EXPECTED = {"PATH", "HOME", "TMPDIR", "LANG", "LC_CTYPE", "OPENBLAS_NUM_THREADS", "MPLBACKEND", "MPLCONFIGDIR", "PWD", "SHLVL", "OLDPWD", "_"}


def reads():
    for path in map(os.path.realpath, given["hidden"]):
        # The sandbox has its own, even if the machine has something by that name, too.
        if path.startswith(("/desk", "/files")):
            continue
        inside = any(path == prefix or path.startswith(prefix + "/") for prefix in ["/usr", *given["prefixes"]])
        if os.path.exists(path) and not inside and not os.path.isdir(path):
            return "it can read %s" % path
        if os.path.isdir(path) and os.listdir(path) and not inside:
            # Only a way to the interpreter may exist.
            for name in os.listdir(path):
                below = os.path.join(path, name)
                if not any((prefix + "/").startswith(below + "/") for prefix in given["prefixes"]):
                    return "it can read %s" % below
    return True


def writes():
    for folder in ["/", "/usr", "/usr/lib", "/files", "/dev", "/etc", *given["prefixes"]]:
        try:
            written = os.path.join(folder, "written-by-probe")
            with open(written, "w"):
                os.unlink(written)
                return "it can write to %s" % folder
        except OSError:
            pass
    try:
        with open("/desk/large", "wb") as file:
            for _ in range(200):
                file.write(bytes(1 << 20))
        return "it can write files of 200 MB"
    except OSError:
        if os.path.exists("/desk/large"):
            os.unlink("/desk/large")
    return True


def network():
    try:
        with socket.create_connection(("127.0.0.1", given["port"]), timeout=2):
            return "it can connect to a port of this machine"
    except OSError:
        return True


def environment():
    more = sorted(set(os.environ) - EXPECTED)
    return True if not more else "it sees %s" % ", ".join(more[:5])


def processes():
    try:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        return "it can start processes"
    except OSError:
        pass
    try:
        os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", ":"], {}), 0)
        return "it can start programs"
    except OSError:
        return True


def signals():
    try:
        os.kill(given["pid"], 0)
        return "it can send signals to the agent"
    except OSError:
        pass
    try:
        ctypes.CDLL(None).unshare(0x10000000)
        mounted = ctypes.CDLL(None).mount(b"none", b"/desk", b"tmpfs", 0, None)
        return True if mounted != 0 else "it can mount"
    except AttributeError:
        return True


def memory():
    try:
        held = bytearray(given["memory"] + (64 << 20))
        return "it can take %d MB" % (len(held) >> 20)
    except MemoryError:
        return True


found = {}
for promise in (reads, writes, network, environment, processes, signals, memory):
    found[promise.__name__] = promise()
print(json.dumps(found))
