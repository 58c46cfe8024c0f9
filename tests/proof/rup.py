# SPDX-License-Identifier: Apache-2.0
"""Clauses and unit propagation with two watched literals: all that a derived clause needs to be checked."""


class Clauses:
    def __init__(self):
        self.watches = {}  # literal -> clauses that watch it, looked at when it becomes false
        self.true = set()  # literals
        self.trail = []
        self.contradiction = False

    def _propagate(self, head):
        """From trail position head on. True where a clause is false."""
        true, trail, watches = self.true, self.trail, self.watches
        while head < len(trail):
            lit = -trail[head]
            head += 1
            old = watches.get(lit)
            if not old:
                continue
            kept = []
            watches[lit] = kept
            for i, c in enumerate(old):
                if c[0] == lit:
                    c[0], c[1] = c[1], lit
                if c[0] in true:
                    kept.append(c)
                    continue
                for j in range(2, len(c)):
                    if -c[j] not in true:
                        c[1], c[j] = c[j], lit
                        watches.setdefault(c[1], []).append(c)
                        break
                else:
                    kept.append(c)
                    if -c[0] in true:
                        kept.extend(old[i + 1:])
                        return True
                    true.add(c[0])
                    trail.append(c[0])
        return False

    def add(self, lits):
        """A clause that holds; what it implies at once holds for good."""
        lits = list(dict.fromkeys(lits))
        if self.contradiction or any(-x in lits or x in self.true for x in lits):
            return
        open_lits = [x for x in lits if -x not in self.true]
        if len(open_lits) > 1:
            c = open_lits + [x for x in lits if -x in self.true]
            self.watches.setdefault(c[0], []).append(c)
            self.watches.setdefault(c[1], []).append(c)
        elif open_lits:
            head = len(self.trail)
            self.true.add(open_lits[0])
            self.trail.append(open_lits[0])
            self.contradiction = self._propagate(head)
        else:
            self.contradiction = True

    def implies(self, lits):
        """Does unit propagation refute the clause's negation?"""
        if self.contradiction:
            return True
        head = len(self.trail)
        refuted = False
        for x in lits:
            if x in self.true:
                refuted = True
                break
            if -x not in self.true:
                self.true.add(-x)
                self.trail.append(-x)
        refuted = refuted or self._propagate(head)
        for x in self.trail[head:]:
            self.true.discard(x)
        del self.trail[head:]
        return refuted
