"""The rules of the Python original's checkpoint file, for tests of both directions.

Reads commands from standard input, one JSON list a line, and answers each with one
JSON line. It knows only what the original's format promises: a JSON object with
state, status and saved_at, or result and completed_at, written to a file whose
extension is replaced by .tmp, synced and renamed.
"""

import json
import os
import sys
import time


def put(path, record, **how):
    temporary = os.path.splitext(path)[0] + ".tmp"
    with open(temporary, "w") as f:
        json.dump(record, f, **how)
        f.flush()
        os.fsync(f.fileno())
    os.rename(temporary, path)


def get(path):
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        return json.load(f)


def save(path, state, **how):
    put(path, {"state": state, "status": "in_progress", "saved_at": time.time()}, **how)


def load(path):
    record = get(path)
    return None if record.get("status") == "complete" else record.get("state")


def complete(path, result, **how):
    put(path, {"state": None, "status": "complete", "result": result, "completed_at": time.time()}, **how)


def result(path):
    record = get(path)
    return record.get("result") if record.get("status") == "complete" else None


def save_python(path, expression):
    """Saves what only Python's json module writes."""
    save(path, eval(expression, {"nan": float("nan"), "inf": float("inf")}))


commands = {f.__name__: f for f in (get, save, load, complete, result, save_python)}

for line in sys.stdin:
    name, *args = json.loads(line)
    how = args.pop() if name in ("save", "complete") and len(args) == 3 else {}
    try:
        answer = ["ok", commands[name](*args, **how)]
    except Exception as e:
        answer = ["error", repr(e)]
    print(json.dumps(answer), flush=True)
