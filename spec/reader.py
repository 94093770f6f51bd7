#!/usr/bin/env python3
"""A reader for pawl journals, version 1, written from the page journal-v1.md alone ("section" = of that page).

Library:  read(data) -> Journal;  fold(records) -> dict.
Program:  python3 reader.py FILE...   one JSON object per file and line; exit 0: all clean or torn, 1: one
          damaged or newer, 2: one could not be read at all.
It takes what a valid line contains on trust (section 2), and raises nothing whatever the bytes are.
Where the page leaves a choice, "Qn" names the entry of QUESTIONS2.md with what is assumed here.
"""
import hashlib
import hmac
import json
import re
import sys
from dataclasses import dataclass, field
from functools import reduce
from json.decoder import scanstring
from typing import Optional

SECTOR = 512

# ---------------------------------------------------------------- CRC-32C (section 1)


def _tables():
    """Tables for one byte, for the two upper and for the two lower bytes of a 32-bit word."""
    one = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)       # 0x1EDC6F41 reflected
        one.append(n)
    upper = []
    for n in range(65536):
        n = n >> 8 ^ one[n & 255]
        upper.append(n >> 8 ^ one[n & 255])
    return one, upper, [n >> 16 ^ upper[n & 0xFFFF] for n in upper]


_ONE, _UPPER, _LOWER = _tables()


def _advance(reg, view):
    """The CRC register `reg` moved over the bytes of the memoryview `view` (no initial or final XOR)."""
    one, upper, lower = _ONE, _UPPER, _LOWER
    whole = len(view) & ~3 if sys.byteorder == "little" else 0
    for word in view[:whole].cast("I"):
        reg ^= word
        reg = lower[reg & 0xFFFF] ^ upper[reg >> 16]
    for byte in view[whole:]:
        reg = reg >> 8 ^ one[(reg ^ byte) & 255]
    return reg


def crc32c(data):
    """CRC-32C of bytes or a memoryview, as 8 small hexadecimal digits."""
    return "%08x" % (_advance(0xFFFFFFFF, memoryview(data)) ^ 0xFFFFFFFF)


_POWERS = [1 << 23]                             # [k]: x to the power of 8 * 2^k, modulo the polynomial, reflected


def _times(a, b):
    """The product of two polynomials, modulo the CRC's."""
    product = 0
    while b:
        product ^= a if b & 0x80000000 else 0
        a = a >> 1 ^ (0x82F63B78 if a & 1 else 0)
        b = b << 1 & 0xFFFFFFFF
    return product


def _skip(reg, count):
    """The register `reg` moved over `count` NUL bytes, in O(log count)."""
    for k in range(count.bit_length()):
        if k == len(_POWERS):
            _POWERS.append(_times(_POWERS[-1], _POWERS[-1]))
        reg = _times(reg, _POWERS[k]) if count >> k & 1 else reg
    return reg


# ---------------------------------------------------------------- lines (section 2)

_ATOMS = [{"^": "[0-9a-f]", "#": "(0|[1-9][0-9]{0,14})"}.get(char, re.escape(char))
          for char in '{"crc":"^^^^^^^^","len":#,"prev":"^^^^^^^^","seq":#,"dur":#']
_FIVE = re.compile(("".join(_ATOMS) + "(?=,)").encode())                    # the first five members
_PREFIX = re.compile(reduce(lambda inner, atom: "(?:%s%s)?" % (atom, inner), reversed(_ATOMS), "").encode())
_NOT_LF = re.compile(rb"[^\n]")
_JSON = re.compile(rb'''[ \t\r\n]+|([{}\[\]:,])|("[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*
                    (?:"|(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z))
                    |-?(?:0|[1-9][0-9]*|\Z)(?:\.(?:[0-9]+|\Z))?(?:[eE][+-]?(?:[0-9]+|\Z))?
                    |t(?:r(?:ue|u?\Z)|\Z)|f(?:a(?:l(?:se|s?\Z)|\Z)|\Z)|n(?:u(?:ll|l?\Z)|\Z)'''
                   .replace(b"\n                    ", b""))          # a token of JSON, or as much as there is of the last one
_DECODER = json.JSONDecoder(parse_int=lambda text: int(text) if len(text) < 20 else float(text))


@dataclass
class Journal:
    """What read() found. `offset` and `seq` are set only if damaged; `torn` counts bytes only if torn."""
    verdict: str = "clean"                      # "clean" | "torn" | "damaged" | "newer"
    records: list = field(default_factory=list)
    end: int = 0                                # x of section 9: behind the last record
    torn: int = 0
    no_newline: bool = False                    # the last record's LF is missing
    reason: Optional[str] = None
    offset: Optional[int] = None
    seq: Optional[int] = None


def _head(data, pos):
    """The first five members of the line at `pos`, its offset and the offset `behind` them; None if not right."""
    match = _FIVE.match(data, pos)
    if not match or int(match[3]) >= int(match[2]):         # dur < seq
        return None
    prev = match.end(1) + len(',"prev":"')
    return {"offset": pos, "behind": match.end(), "crc": data[pos + 8:pos + 16].decode(), "len": int(match[1]),
            "prev": data[prev:prev + 8].decode(), "seq": int(match[2]), "dur": int(match[3])}


def _valid_line(data, view, pos):
    """The _head() of the valid line that begins at `pos`; ValueError, with the reason, if there is none."""
    head = _head(data, pos)
    if not head:
        raise ValueError("the line does not begin with the five members")
    end = pos + head["len"]
    if not head["behind"] < end <= len(data) or data[end - 1] != 0x7D or data.find(b"\n", pos, end) >= 0:
        raise ValueError("the line has not the length that it says")
    if crc32c(view[pos + 18:end]) != head["crc"]:
        raise ValueError("the checksum is wrong")
    return head


_TAGGED = ',"run":"xxxxxxxx"}'
_TAG = re.compile(rb',"run":"([0-9a-f]{8})"\}')


def _tag(data, end):
    """The tag of the line that ends at `end`, or None."""
    match = _TAG.fullmatch(data, max(0, end - len(_TAGGED)), end)
    return match[1].decode() if match else None


def _complete(data, record):
    """Make a record of what _valid_line() gave: add `kind`, `key`, `members` and its value's or patch's exact bytes.

    A value's text is all that is left of the line but `pad` and the tag, so that nothing needs to look into it. Members behind
    something that is not JSON are missing (Q2).
    """
    pos, members, at = record["offset"], {}, record["behind"] - record["offset"]
    record["tag"] = _tag(data, pos + record["len"])
    try:
        text = data[pos:pos + record["len"]].decode()
        while text[at] == ",":
            start = at + 2
            at = scanstring(text, start)[1]
            name = text[start:at - 1]                                       # by its bytes (section 2)
            if name == "value":
                end = len(text) - (len(_TAGGED) if record["tag"] else len("}"))
                end -= len(',"pad":""') if text.endswith(',"pad":""', 0, end) else 0
                record["value_text"] = text[at + 1:end].encode()
                break
            members[name], end = _DECODER.raw_decode(text, at + 1)
            if name == "vs" and isinstance(members[name], str):
                record["value_text"] = members[name].encode("utf-8", "surrogatepass")
            elif name == "patch":
                record["patch_text"] = text[at + 1:end].encode()
            at = end
    except (ValueError, RecursionError):                                    # UnicodeDecodeError is a ValueError
        pass
    kind = members["kind"] if next(iter(members), None) == "kind" else None     # it is the sixth, or is not
    record["kind"] = kind if isinstance(kind, str) else None
    record["key"] = members["key"] if isinstance(members.get("key"), str) else None
    record["members"] = members


# ---------------------------------------------------------------- order and verdict (sections 3, 9)


def _integer(value, least):
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _written(value):
    """A value, 0 if it is not an integer that section 3 allows for `format` and `inc`."""
    return value if _integer(value, 1) and value < 10 ** 15 else 0


def _check_order(record, before):
    """ValueError if `record` cannot follow the record `before`, or be the first one (None).

    Notes in record["run"] the tag of the first record, which all others must have.
    """
    record["run"] = before["run"] if before else record["tag"]
    if before is None:
        inc = _written(record["members"].get("inc"))
        if record["kind"] != "run" or not _written(record["members"].get("format")) or not inc:
            raise ValueError("the first record is not of kind run with a format and an inc")
        if inc == 1 and (record["seq"], record["prev"]) != (1, "00000000"):
            raise ValueError("the first record has not the seq 1 and the prev 00000000")
        if record["tag"] and not str(record["members"].get("uid")).startswith(record["tag"]):
            raise ValueError("the first record's tag is not the beginning of its uid")
    elif record["run"] and record["tag"] != record["run"]:
        raise ValueError("the line is of another run")
    elif record["seq"] != before["seq"] + 1:
        raise ValueError("seq is %d, not %d" % (record["seq"], before["seq"] + 1))
    elif record["kind"] == "run":
        raise ValueError("there is a second record of kind run")
    elif record["prev"] != before["crc"]:
        raise ValueError("prev is not the crc of the record before")


def _claim(data, view, x, a, run):
    """Rule 2: the offset of a valid line of the run from x on that has dur > a and is no part of a value, or None.

    One sweep over the bytes: the CRC of every candidate comes from the registers at its two ends, so that
    any number of overlapping candidates costs no more than their number times a logarithm.
    """
    heads, stops, newline = {}, [], x - 1
    for match in _FIVE.finditer(data, x):
        start, head = match.start(), _head(data, match.start())
        if newline < start:
            newline = data.find(b"\n", start)
            newline = len(data) if newline < 0 else newline
        if head and head["dur"] > a and head["behind"] < start + head["len"] <= newline:
            end = start + head["len"]
            if run and _tag(data, end) != run:
                continue
            if data[end - 1] == 0x7D and data[end:end + 1] not in (b"}", b",", b"]") \
                    and data[start - 1:start] not in (b":", b",", b"["):
                heads[start] = head
                stops += (start + 18, False, start), (end, True, start)
    reg, pos, begun = 0, x, {}
    for stop, ends, start in sorted(stops):
        reg, pos, head = _advance(reg, view[pos:stop]), stop, heads[start]
        if not ends:
            begun[start] = reg
        elif "%08x" % (reg ^ _skip(begun[start] ^ 0xFFFFFFFF, head["len"] - 18) ^ 0xFFFFFFFF) == head["crc"]:
            return start
    return None


def _begins(piece):
    """Whether the bytes `piece` are the beginning of a line and not all of it (rule 3, last point)."""
    match = _PREFIX.fullmatch(piece)
    if match:
        _, seq, dur = match.groups()
        return piece != b"" and seq != b"0" and (dur is None or int(dur) < int(seq))
    head = _head(piece, 0)
    return bool(head) and head["len"] - len(piece) > 1 and _unclosed(piece)


def _unclosed(piece):
    """Whether the bytes `piece` are the beginning of a JSON object and not all of it."""
    value, outer, want, at = b'{["0', [], b"{", 0
    while at < len(piece):
        match = _JSON.match(piece, at)
        if not match or match.end() == at:
            return False
        token, at = (match[1] or match[0][:1]), match.end()
        if token in b" \t\r\n":
            continue
        token = token if token in b'{}[]:,"' else b"0"                      # a number or a word
        if token not in want:
            return False
        if token in b"{[":
            outer.append(token)
            want = b'"}' if token == b"{" else value + b"]"
        elif token == b":":
            want = value
        elif token == b",":
            want = b'"' if outer[-1] == b"{" else value
        elif token == b'"' and want in (b'"', b'"}'):
            want = b":"
        else:
            if token in b"}]":
                outer.pop()
            if not outer:
                return False
            want = b",}" if outer[-1] == b"{" else b",]"
    return True


def _torn(data, x, y):
    """Rule 3: why the bytes from x on are torn, or None. y: the first of them that is not LF."""
    def only(byte, low, high):
        return data.count(byte, low, high) == high - low

    if y - y % SECTOR > x:
        return "the beginning of a line was never written"
    p = data.find(b"\n", y)
    if p < 0:
        return "the file ends inside a line"
    for start in range(x - x % SECTOR, p - SECTOR + 1, SECTOR):             # the sector that holds p is not all NUL
        if only(b"\0", max(start, x), start + SECTOR):
            return "a sector is NUL"
    if p % SECTOR == 0 and only(b"\n", p, min(p + SECTOR, len(data))):
        return "the rest of a line was never written"
    for q in (p, data.find(b"\0", y, p)):
        stop = min(q - q % SECTOR + SECTOR, len(data))
        if q >= 0 and stop - q >= 2 and only(data[q:q + 1], q, stop) and _begins(data[y:q]):
            return "a line breaks off"
    return None


def read(data):
    """Read a journal; whatever the bytes are, the answer is a Journal, never an exception."""
    data = bytes(data)
    view, journal, last = memoryview(data), Journal(), None
    while True:
        match = _NOT_LF.search(data, journal.end)
        y = match.start() if match else len(data)
        try:
            if not match:
                if last:
                    return journal                                          # clean: nothing but fill is left
                raise ValueError("there is no first record")
            if journal.no_newline:                                          # Q1
                raise ValueError("no LF follows the record")
            record = _valid_line(data, view, y)
            _complete(data, record)
            if last is None and record["kind"] == "run" and _written(record["members"].get("format")) > 1:
                return Journal("newer", reason="the journal is of format %d" % record["members"]["format"])
            _check_order(record, last)
        except ValueError as problem:
            reason = "at %d: %s" % (y, problem)
            break
        journal.records.append(record)
        last = record
        journal.end = y + record["len"]
        journal.no_newline = data[journal.end:journal.end + 1] != b"\n"
        journal.end += not journal.no_newline
    x, a = journal.end, last["seq"] if last else 0
    claim = _claim(data, view, x, a, last["run"]) if last else None
    torn = _torn(data, x, y) if last and claim is None else None
    if torn:
        journal.verdict, journal.torn, journal.reason = "torn", len(data) - x, "%s (%s)" % (torn, reason)
    else:
        journal.verdict, journal.offset, journal.seq, journal.reason = "damaged", x, a + 1, reason
        if claim is not None:
            journal.reason += "; the line at %d says that record %d was durable" % (claim, a + 1)
    return journal


# ---------------------------------------------------------------- states and patches (sections 5, 8)

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^"\s,:{}\[\]]+|[{}\[\]]', re.DOTALL)


def _string(token):
    """The string that a token is."""
    if not isinstance(token, str) or token[:1] != '"':
        raise ValueError("not a string")
    return scanstring(token, 1)[0]


def parse(text):
    """The tree of a JSON text, which is trusted to be one: scalars are their tokens (str), arrays lists, objects
    {name decoded: [name as spelled, value]}."""
    root = holder = []
    outer, name = [], None
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "]}":
            holder = outer.pop() if outer else root
        elif isinstance(holder, dict) and name is None:
            name = token
        else:
            value = {"{": {}, "[": []}.get(token, token)
            if name is None:
                holder.append(value)
            else:
                holder[_string(name)], name = [name[1:-1], value], None
            if token in "{[":
                outer.append(holder)
                holder = value
    if not root:
        raise ValueError("no value")
    return root[0]


def render(tree):
    """The compact text of a tree."""
    out, todo = [], [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            out.append(node)
            continue
        parts = []
        for item in node.values() if isinstance(node, dict) else node:
            parts += (",", '"%s":' % item[0], item[1]) if isinstance(node, dict) else (",", item)
        out.append("{" if isinstance(node, dict) else "[")
        todo.append("}" if isinstance(node, dict) else "]")
        todo += reversed(parts[1:])
    return "".join(out)


def _index(segment, limit):
    """An array's index in a path."""
    if not re.fullmatch("0|[1-9][0-9]{0,14}", segment) or int(segment) >= limit:
        raise ValueError("no such element")
    return int(segment)


def _spelling(path, name):
    """How the last segment of `path` (as spelled), which is `name` decoded, spells that name."""
    last = ""
    for piece in re.findall(r"\\u....|\\.|.", path):
        last = "" if _string('"%s"' % piece) == "/" else last + piece
    last = last.replace("~1", "/").replace("~0", "~")
    if _string('"%s"' % last) != name:                                      # Q6: a ~ or its digit is escaped
        raise ValueError("no spelling")
    return last


def _operate(tree, op):
    """The tree behind one operation of a patch (changed in place where it can be)."""
    if not isinstance(op, dict):
        raise ValueError("not an operation")
    op = {name: value for name, (_, value) in op.items()}
    what, path, new = _string(op.get("op")), _string(op.get("path")), op.get("value")
    before = _string(op["before"]) if "before" in op else None
    if what not in ("add", "remove", "replace") or what != "remove" and new is None \
            or path[:1] not in ("", "/") or path == "" and what == "remove" or re.search("~(?![01])", path):
        raise ValueError("not an operation")
    if path == "":
        return new
    *outer, name = [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
    parent = tree
    for part in outer:
        if isinstance(parent, list):
            parent = parent[_index(part, len(parent))]
        elif isinstance(parent, dict) and part in parent:
            parent = parent[part][1]
        else:
            raise ValueError("no such path")
    if isinstance(parent, list):
        at = len(parent) if (what, name) == ("add", "-") else _index(name, len(parent) + (what == "add"))
        parent[at:at + (what != "add")] = [new] if what != "remove" else []
    elif not isinstance(parent, dict) or what != "add" and name not in parent:
        raise ValueError("no such path")
    elif what == "remove":
        del parent[name]
    elif name in parent:
        parent[name][1] = new                                               # Q7: `before` is not looked at
    else:
        items = [] if before is None else list(parent.items())
        at = 0 if before is None else list(parent).index(before)   # ValueError if it is not there
        for key, _ in items[at:]:
            del parent[key]
        parent.update([(name, [_spelling(op["path"][1:-1], name), new])] + items[at:])
    return tree


def _state(chain):
    """The text of the newest state of `chain`, state records from the newest whole one on; ValueError if none."""
    text = chain[0].get("value_text")
    if text is None:
        raise ValueError("no whole state to patch")
    if len(chain) > 1:
        tree = parse(text.decode())
        for record in chain[1:]:
            patch = parse(record.get("patch_text", b"").decode())
            if not isinstance(patch, list):
                raise ValueError("not a patch")
            for op in patch:
                tree = _operate(tree, op)
        text = render(tree).encode()
    if crc32c(text) != chain[-1]["members"].get("sum"):
        raise ValueError("the state has not the sum that it says")
    return text


# ---------------------------------------------------------------- what the records mean (section 6)


class _Tree:
    """What is recorded under keys, in a tree along their segments, so that an epoch cuts off and an alias hangs
    elsewhere all that is inside its key. At a key (under None) stand, each under the name of its sort: `step`
    {status, once, map, began, sleep, final, series, moved}, `crash` (deaths and others, if they count), `used` (by unit: in
    all, and behind the step's newest start), `map` (true), `note` (text) and `state` (records from the newest whole one on)."""

    def __init__(self, uid):
        self.root, self.epochs, self.whole, self.uid = {}, {}, {}, uid

    def at(self, key):
        """The things at a key."""
        node = self.root
        for segment in key.split("/"):
            node = node.setdefault(segment, {})
        return node.setdefault(None, {})

    def cut(self, key):
        """Take off and return all that is at a key and inside it."""
        *outer, last = key.split("/")
        node = self.root
        for segment in outer:
            node = node.get(segment, {})
        return node.pop(last, {})

    @staticmethod
    def walk(key, node):
        """The keys with their things in the tree `node` that hangs at `key`."""
        todo = [(key, node)]
        while todo:
            key, node = todo.pop()
            if None in node:
                yield key, node[None]
            todo += [(segment if key is None else key + "/" + segment, inner)
                     for segment, inner in node.items() if segment is not None]

    def epoch(self, key, n, alone):
        if alone:
            for sort in ("step", "note", "crash", "used"):
                self.at(key).pop(sort, None)
        else:
            self.cut(key)
            self.whole[key] = n                         # counts for the keys inside, too
        self.epochs[key] = n

    def alias(self, key, source):
        if key == source or key.startswith(source + "/") or source.startswith(key + "/"):
            return                                      # it means nothing (section 6)
        moved = list(self.walk(source, self.cut(source)))
        for old, things in moved:
            step, there = things.get("step"), self.at(key + old[len(source):])
            for sort in ("used", "crash"):              # they go with the step, or are dropped
                if sort in things and step and "step" not in there:
                    there[sort] = things[sort]
                things.pop(sort, None)
            if step and "step" not in there:
                step.setdefault("moved", self.idempotency(old))
                if step["map"] and (step["map"] + "/").startswith(source + "/"):
                    step["map"] = key + step["map"][len(source):]
            for sort, thing in things.items():
                there.setdefault(sort, thing)
        self.epochs[source] = self.whole[source] = self.epochs.get(source, 0) + 1

    def idempotency(self, key):
        """The idempotency key that belongs to a key now."""
        covered, end = key.encode("utf-8", "surrogatepass"), 0
        for segment in key.split("/"):
            end += len(segment)
            n = (self.epochs if end == len(key) else self.whole).get(key[:end], 0)
            if n > 0:
                covered += b"\0%d@%d" % (n, len(key[:end].encode("utf-8", "surrogatepass")))
            end += 1
        return hmac.new(self.uid.encode("utf-8", "surrogatepass"), covered, hashlib.sha256).hexdigest()[:32]


_TROUBLES = {"start": {"fails": int, "since": str, "until": str, "wait": int},
             "fail": {"fails": int, "since": str, "next": str, "wait": int, "poison": bool},
             "await": {"until": str}}
_STATUSES = {"start": "running", "await": "waiting", "step": "done", "answer": "done", "fail": "failed"}


def _step(things, record):
    """Add a start, step, fail, await or answer to the things at its key. An await counts as a start, too."""
    kind, members = record["kind"], record["members"]
    step = things.setdefault("step", {"status": None, "once": False, "map": None, "began": 0, "sleep": False,
                                      "final": False, "series": {}})
    done = step["status"] == "done"
    if kind == "step" or not done and (kind in ("await", "answer") or kind == "fail" and members.get("poison") is not True):
        things.pop("crash", None)
    if done:
        return
    step["status"] = _STATUSES[kind]
    step["final"] = kind == "fail" and members.get("final") is True
    step["series"] = {name: members[name] for name, sort in _TROUBLES.get(kind, {}).items()
                      if type(members.get(name)) is sort and members[name]}
    if kind in ("start", "await"):
        step["once"] = kind == "start" and members.get("once") is True
        step["map"] = members["map"] if kind == "start" and isinstance(members.get("map"), str) else None
        step["began"], step["sleep"] = record["seq"], kind == "start" and "until" in step["series"]
        for amounts in things.get("used", {}).values():
            amounts[1] = 0


def _trouble(things, record):
    """Add a crash or a retry to the things at its key. A retry concerns a step that failed, or runs and is no sleep."""
    step, members = things.get("step"), record["members"]
    if record["kind"] == "crash":
        things["crash"] = {name: members[member] for name, member in (("deaths", "n"), ("others", "others"))
                           if _integer(members.get(member), 1)}
    elif step and (step["status"] == "failed" or step["status"] == "running" and not step["sleep"]):
        step["final"], step["series"] = False, {}
        things.pop("crash", None)


def _finite(budget):
    """A budget without numbers that are too large for a float."""
    if isinstance(budget, dict):
        return {unit: min(limit, sys.float_info.max) if type(limit) is float else limit for unit, limit in budget.items()}
    return None


def _add(used, unit, amount):
    """Add an amount to what was used, in all and behind the newest start."""
    used[unit] = [min(before + amount, sys.float_info.max) for before in used.get(unit, (0, 0))]


def _under_way(tree, attempt):
    """The keys of the steps that were under way when the process of the newest attempt, record `attempt`, died."""
    keys = [key for key, things in tree.walk(None, tree.root) if "step" in things and things["step"]["status"] == "running"
            and things["step"]["began"] > attempt and not things["step"]["sleep"]]
    around = {key[:at] for key in keys for at, char in enumerate(key) if char == "/"}
    return sorted(set(keys) - around)


def _chained(chain, record):
    """The records of a key's newest state, from the newest whole one on, with one more."""
    return [record] if "value_text" in record else chain + [record]


def _newest(chain):
    """The text of the newest state, None if there is none, "refused" if what is recorded does not lead to it."""
    try:
        return _state(chain) if chain else None
    except ValueError:                                                      # UnicodeError is one
        return "refused"


def fold(records):
    """What the records mean: status, attempts, result and the run's own state (bytes; None if there is none,
    "refused" if what is recorded does not lead to a state with its sum), labels, repairs, the terms of the newest
    attempt (deadline, within, budget), wake (if it waits, until when), cancel (if it is cancelled: by, reason, mail),
    used (by unit), died (None, or the keys of the steps that were under way), and by key: steps (status), maps (their
    items), notes and states (bytes or "refused"), idempotency, troubles, used_by (by unit) and used_since, the part of that
    behind the newest start; once and final are lists of keys.
    """
    status, attempts, result, chain, repairs, labels, tree = "in_progress", 0, None, [], [], {}, _Tree("")
    terms, wake, cancel, used, opened, ended = {}, None, None, {}, 0, 0
    for record in records:
        kind, key, members = record["kind"], record["key"], record["members"]
        if kind == "run":
            tree.uid = members["uid"] if isinstance(members.get("uid"), str) else ""
            labels = members["labels"] if isinstance(members.get("labels"), dict) else {}
        elif kind == "attempt":
            attempts = members["n"] if _integer(members.get("n"), 1) else attempts
            opened, terms = record["seq"], members
        if kind == "complete" or kind == "cancelled" and status != "complete" or kind in ("failed", "waiting", "interrupted") and status not in ("complete", "failed"):
            ended = record["seq"]
        elif kind == "clear":
            ended = 0
        elif kind == "retry" and status == "waiting":
            status, wake = "in_progress", None
        if kind in ("attempt", "failed", "waiting") and status not in ("complete", "cancelled"):
            if kind != "waiting" or status == "in_progress":
                status = {"attempt": "in_progress"}.get(kind, kind)
                wake = members["until"] if kind == "waiting" and isinstance(members.get("until"), str) else None
        elif kind == "cancelled" and status != "complete":
            status, wake, cancel = "cancelled", None, members
        elif kind == "reopen" and status == "cancelled":
            status, cancel = "in_progress", None
        elif kind == "complete":
            status, wake, cancel, result = "complete", None, None, record.get("value_text")
        elif kind == "clear":
            status, wake, cancel, result, chain, used, tree = "in_progress", None, None, None, [], {}, _Tree(tree.uid)
        elif kind == "repair":
            repairs.append({name: members.get(name) for name in ("lost", "missing_from", "missing_to")})
        elif kind == "meter":
            unit, amount = members.get("unit"), members.get("amount")
            if isinstance(unit, str) and type(amount) in (int, float):
                _add(used, unit, float(amount))
                if key is not None:
                    _add(tree.at(key).setdefault("used", {}), unit, float(amount))
        elif kind == "state" and key is None:
            chain = _chained(chain, record)
        elif key is None:
            continue
        elif kind == "state":
            things = tree.at(key)
            things["state"] = _chained(things.get("state", []), record)
        elif kind == "note":
            tree.at(key)["note"] = record.get("value_text")
        elif kind == "map":
            tree.at(key)["map"] = True
        elif kind == "epoch":
            tree.epoch(key, members["n"] if _integer(members.get("n"), 1) else 0, members.get("alone") is True)
        elif kind == "alias" and isinstance(members.get("from"), str):
            tree.alias(key, members["from"])
        elif kind in ("start", "step", "fail", "await", "answer"):
            _step(tree.at(key), record)
        elif kind in ("crash", "retry"):
            _trouble(tree.at(key), record)
    out = {"steps": {}, "maps": {}, "notes": {}, "states": {}, "idempotency": {}, "once": [], "final": [], "troubles": {},
           "used_by": {}, "used_since": {}}
    for key, things in sorted((key, things) for key, things in tree.walk(None, tree.root) if things):
        if "step" in things:
            step = things["step"]
            out["steps"][key] = step["status"]
            out["idempotency"][key] = step.get("moved") or tree.idempotency(key)
            out["once"] += [key] if step["once"] else []
            out["final"] += [key] if step["final"] else []
            if step["series"] or things.get("crash"):
                out["troubles"][key] = {**step["series"], **things.get("crash", {})}
            if "used" in things:
                out["used_by"][key] = {unit: amounts[0] for unit, amounts in things["used"].items()}
                out["used_since"][key] = {unit: amounts[1] for unit, amounts in things["used"].items() if amounts[1]}
            if step["map"] is not None:
                out["maps"].setdefault(step["map"], []).append(key)
        if "map" in things:
            out["maps"].setdefault(key, [])
        if "note" in things:
            out["notes"][key] = things["note"]
        if "state" in things:
            out["states"][key] = _newest(things["state"])
    return {"status": status, "attempts": attempts, "result": result, "state": _newest(chain), "labels": labels,
            "repairs": repairs, "deadline": terms.get("deadline"), "within": terms.get("within"), "budget": _finite(terms.get("budget")),
            "wake": wake, "cancel": cancel and {name: cancel.get(name) for name in ("by", "reason", "mail")},
            "used": {unit: amounts[0] for unit, amounts in used.items()},
            "died": _under_way(tree, opened) if opened > ended else None, **out}


# ---------------------------------------------------------------- program


def _text(value):
    """The same with strings in the place of bytes."""
    if isinstance(value, dict):
        return {name: _text(inner) for name, inner in value.items()}
    return str(value, "utf-8", "surrogatepass") if isinstance(value, bytes) else value


def report(name, data):
    """The object that the program prints for a file."""
    journal = read(data)
    out = {"file": name, **vars(journal), **fold(journal.records), "records": len(journal.records)}
    if not journal.records:                     # newer, or damaged from the beginning: nothing is known
        out.update(status=None, attempts=None)
    return _text(out)


def main(names):
    """Print one line of JSON (ASCII, so that nothing in a journal reaches the terminal raw) per file."""
    if not names:
        print("usage: reader.py FILE...", file=sys.stderr)
        return 2
    code = 0
    for name in names:
        try:
            with open(name, "rb") as file:
                out = report(name, file.read())
            code = max(code, int(out["verdict"] in ("damaged", "newer")))
        except OSError as error:
            out, code = {"file": name, "verdict": None, "reason": error.strerror}, 2
        print(json.dumps(out), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
