# SPDX-License-Identifier: Apache-2.0
"""The store of results: one JSON object a line, appended and flushed as soon as a run ends, never rewritten.

A result is known by its key (instance, graph, budget in bytes, method, flags, seed, limit, threads, build). A line that a
killed process left half-written is passed over. Several processes may append to one store."""
import fcntl
import json
import os


def key_text(key):
    return json.dumps(key, sort_keys=True)


class Store:
    def __init__(self, path):
        self.path = str(path)
        self.records = {}
        self.read_to = 0
        self.refresh()

    def refresh(self):
        """Takes in what other processes appended."""
        if not os.path.exists(self.path):
            return
        with open(self.path, "rb") as f:
            f.seek(self.read_to)
            for line in f:
                if not line.endswith(b"\n"):
                    break
                self.read_to += len(line)
                try:
                    record = json.loads(line)
                    self.records[key_text(record["key"])] = record
                except (ValueError, KeyError):
                    continue

    def find(self, key):
        return self.records.get(key_text(key))

    def add(self, record):
        os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        line = (json.dumps(record, sort_keys=True) + "\n").encode()
        with open(self.path, "ab") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            f.seek(0, os.SEEK_END)
            if f.tell() and not self._ends_with_newline():
                line = b"\n" + line  # after a half-written line
            f.write(line)
            f.flush()
            os.fsync(f.fileno())
        self.refresh()

    def _ends_with_newline(self):
        with open(self.path, "rb") as f:
            f.seek(-1, os.SEEK_END)
            return f.read(1) == b"\n"
