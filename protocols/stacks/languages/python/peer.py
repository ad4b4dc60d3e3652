"""A peer of a measured stack: serves it, or is its client, as the control channel says.

Start it with the path of the channel's socket. Each line of the channel is a message in JSON: a question
`{call, ask: {do, …}}`, its answer `{call, value}` or `{call, failed}`, or `{call, abort}`. Both ends may ask.
`languages/language-stack.ts` is the other end.
"""

import asyncio
import importlib
import json
import os
import resource
import sys
import time

# Separates a planned id from the number of the pass that repeats it.
PASS_MARK = '~~'


class Channel:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.calls, self.running, self.last = {}, {}, 0

    def write(self, message):
        self.writer.write(json.dumps(message, ensure_ascii=False, separators=(',', ':')).encode() + b'\n')

    async def ask(self, question):
        self.last += 1
        call = self.last
        answer = self.calls[call] = asyncio.get_running_loop().create_future()
        self.write({'call': call, 'ask': question})
        try:
            return await answer
        except asyncio.CancelledError:
            self.write({'call': call, 'abort': True})
            raise
        finally:
            del self.calls[call]

    async def serve(self, answer):
        """Answers questions with `answer(question)` until the other end is gone."""
        while line := await self.reader.readline():
            message = json.loads(line)
            call = message['call']
            if 'ask' in message:
                task = self.running[call] = asyncio.create_task(self.reply(call, answer, message['ask']))
                task.add_done_callback(lambda _, call=call: self.running.pop(call, None))
            elif 'abort' in message:
                if call in self.running:
                    self.running[call].cancel()
            elif (waiting := self.calls.get(call)) is not None and not waiting.done():
                if 'failed' in message:
                    waiting.set_exception(RuntimeError(message['failed']))
                else:
                    waiting.set_result(message['value'])

    async def reply(self, call, answer, question):
        try:
            self.write({'call': call, 'value': await answer(question)})
        except (Exception, asyncio.CancelledError) as error:
            self.write({'call': call, 'failed': describe(error)})


def describe(error):
    """Returns the reason of a failure; groups of tasks hide it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


class Peer:
    def __init__(self, channel):
        self.channel = channel
        self.sessions = {}
        self.counts = {'packets': 0, 'refused': 0}
        # Returns the bytes of the pipes of this process, if it serves on them.
        self.count_wire = lambda: None

    async def do(self, question):
        return await getattr(self, 'do_' + question.pop('do'))(**question)

    async def do_serve(self, session, module, settings, plan):
        async def ask(packet):
            return await self.channel.ask({'do': 'packet', 'session': session, 'packet': packet})

        inbox = ask if plan is None else PlannedInbox(plan, self.counts).answer
        served = load(module).serve(inbox, settings, self)
        self.sessions[session] = await Held.open(served)
        return {'port': self.sessions[session].value}

    async def do_connect(self, session, module, settings, address):
        began = time.perf_counter()
        async with asyncio.timeout(settings['sessionMs'] / 1000):
            self.sessions[session] = await Held.open(load(module).connect(address, settings))
        return {'ms': (time.perf_counter() - began) * 1000}

    async def do_exchange(self, session, packet):
        return await self.sessions[session].value(packet)

    async def do_plan(self, session, exchanges):
        self.sessions[session].plan = exchanges

    async def do_play(self, session, first, load, task_length):
        exchange = self.sessions[session].value
        plan = self.sessions[session].plan
        return await Player(exchange, plan, first, task_length).play(**load)

    async def do_count(self):
        usage = resource.getrusage(resource.RUSAGE_SELF)
        cpu = {'user': usage.ru_utime * 1e6, 'system': usage.ru_stime * 1e6}
        return {'wire': self.count_wire(), **self.counts, 'cpuUs': cpu, 'rssBytes': read_rss()}

    async def end(self):
        """Tells the last counts of a server whose client has gone, and ends the process."""
        await self.channel.ask({'do': 'end', 'counts': await self.do_count()})
        os._exit(0)

    async def do_close(self, session):
        await self.sessions.pop(session).close()


def read_rss():
    try:
        with open('/proc/self/statm') as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def load(file):
    """Imports a stack's module, whose folder has what it imports."""
    folder, name = os.path.split(file)
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name.removesuffix('.py'))


class Held:
    """A context that one task enters and leaves, as groups of tasks demand."""

    plan = ()

    @classmethod
    async def open(cls, context):
        held = cls()
        held.over = asyncio.Event()
        entered = asyncio.get_running_loop().create_future()
        held.task = asyncio.create_task(held.run(context, entered))
        try:
            held.value = await entered
        except asyncio.CancelledError:
            held.task.cancel()
            raise
        return held

    async def run(self, context, entered):
        try:
            async with context as value:
                entered.set_result(value)
                await self.over.wait()
        except BaseException as error:
            if entered.done():
                raise
            entered.set_exception(RuntimeError(describe(error)))

    async def close(self):
        self.over.set()
        await self.task


class PlannedInbox:
    """Answers each packet with the replies of its planned exchange."""

    def __init__(self, plan, counts):
        self.exchanges = {exchange['request']['id']: exchange for exchange in plan['exchanges']}
        self.work_s = plan['workMs'] / 1000
        self.counts = counts

    async def answer(self, packet):
        self.counts['packets'] += 1
        base, _, number = packet['id'].partition(PASS_MARK)
        exchange = self.exchanges.get(base)
        if exchange is None:
            self.counts['refused'] += 1
            raise RuntimeError(f'unexpected packet {packet["id"]}: it is in no planned exchange')
        if self.work_s > 0:
            await asyncio.sleep(self.work_s)
        return number_exchange(exchange, int(number or 0), packet['task_id'])[1]


def number_exchange(exchange, number, task_id):
    """Returns the request and the replies for a pass: as planned in pass 0, with new ids in each further one."""
    mark = f'{PASS_MARK}{number}' if number else ''
    request, replies = exchange['request'], exchange['replies']
    own = request['id']

    def rename(packet):
        renamed = {**packet, 'id': packet['id'] + mark, 'task_id': task_id}
        if packet.get('reply_to') == own and packet is not request:
            renamed['reply_to'] = own + mark
        return renamed

    return rename(request), [rename(reply) for reply in replies]


class Player:
    """Plays a load, as `peers/load.ts` does."""

    def __init__(self, exchange, plan, first, task_length):
        self.exchange, self.plan, self.first = exchange, plan, first
        self.task_length = task_length
        self.times, self.late, self.failure = [], 0, None

    def prepare(self, index):
        number, at = divmod(self.first + index, len(self.plan))
        planned = self.plan[at]
        mark = f'{PASS_MARK}{number}' if number else ''
        task = planned['request']['task_id'][: self.task_length - len(mark)] + mark
        request, replies = number_exchange(planned, number, task)
        return request, sorted(reply['id'] for reply in replies)

    async def run(self, request, wanted, began):
        came = await self.exchange(request)
        self.times.append((time.perf_counter() - began) * 1e6)
        if (got := sorted(reply['id'] for reply in came)) != wanted:
            raise RuntimeError(f'in answer to {request["id"]}: expected {wanted}, got {got}')

    async def play(self, kind, **load):
        began = time.perf_counter()
        overloaded = await getattr(self, 'play_' + kind)(began, **load)
        elapsed = (time.perf_counter() - began) * 1000
        return {
            'count': len(self.times),
            'elapsedMs': elapsed,
            'timesUs': self.times,
            'lateUs': self.late,
            'isOverloaded': overloaded,
        }

    async def play_closed(self, began, count, concurrency, maxMs):
        indexes = iter(range(count))

        async def work():
            while time.perf_counter() - began < maxMs / 1000 and (index := next(indexes, None)) is not None:
                prepared = self.prepare(index)
                await self.run(*prepared, time.perf_counter())

        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, count)):
                group.create_task(work())
        return False

    async def play_open(self, began, count, ratePerS, maxMs=None, maxWaiting=512):
        """Begins exchanges at fixed times, and measures each from its due time."""
        waiting, overloaded = set(), False
        async with asyncio.TaskGroup() as group:
            for index in range(count):
                overloaded = len(waiting) >= maxWaiting
                if overloaded or (index and maxMs is not None and time.perf_counter() - began > maxMs / 1000):
                    break
                prepared = self.prepare(index)
                due = began + index / ratePerS
                # A timer may be a millisecond late.
                while (left := due - time.perf_counter()) > 0:
                    await asyncio.sleep(left - 0.0015 if left > 0.0015 else 0)
                self.late = max(self.late, (time.perf_counter() - due) * 1e6)
                task = group.create_task(self.run(*prepared, due))
                waiting.add(task)
                task.add_done_callback(waiting.discard)
        return overloaded


async def main(path):
    # Lines carry messages of many megabytes.
    reader, writer = await asyncio.open_unix_connection(path, limit=1 << 31)
    channel = Channel(reader, writer)
    await channel.serve(Peer(channel).do)
    # Threads that wait for pipes would keep it.
    os._exit(0)


if __name__ == '__main__':
    asyncio.run(main(sys.argv[1]))
