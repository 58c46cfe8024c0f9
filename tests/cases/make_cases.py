#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the case files of this folder: graphs in short form here, answers by brute force (see README.md).

An op: (name, duration, inputs, outputs, extras). A tensor: name=size, or name=base for a view."""
import json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def graph(name, tensors, ops, outputs=(), order=None):
    t = []
    for k, v in tensors.items():
        t.append(dict(name=k, size=0, view_of=v) if isinstance(v, str) else dict(name=k, size=v))
    o = []
    for op in ops:
        extra = op[4] if len(op) > 4 else {}
        o.append(dict(name=op[0], duration=op[1], inputs=op[2].split() if isinstance(op[2], str) else op[2], outputs=op[3].split(), **extra))
    g = dict(format="ebbtide-graph", version=1, name=name, tensors=t, ops=o)
    if outputs:
        g["outputs"] = list(outputs)
    if order:
        g["order"] = order.split()
    return g


def over(*pairs):
    return dict(inplace=[list(p.split(">")) for p in pairs])


CASES = [
    ("view_chain", "a view of a view keeps the root alive, and only its bytes count",
     dict(a=6, v="a", w="v", b=2, c=7, d=1, e=1),
     [("A", 3, "", "a"), ("V", 0, "a", "v"), ("W", 0, "v", "w"), ("B", 1, "w", "b"), ("C", 1, "b", "c"), ("D", 1, "c", "d"), ("E", 1, "w d", "e")]),
    ("view_output", "a view is a graph output: its storage stays, whatever happens to the base's name",
     dict(a=5, v="a", b=4, c=6, d=1),
     [("A", 2, "", "a"), ("V", 0, "a", "v"), ("B", 1, "a", "b"), ("C", 3, "b", "c"), ("D", 1, "c b", "d")], ["v", "d"]),
    ("view_output_remade", "an output that is a view may be made late, from a base made again",
     dict(a=5, v="a", b=1, c=9, d=1),
     [("A", 2, "", "a"), ("V", 1, "a", "v"), ("B", 1, "v", "b"), ("C", 3, "b", "c"), ("D", 1, "c", "d")], ["v", "d"]),
    ("costly_view", "a view that takes time is an op like any other, but has no bytes",
     dict(a=6, v="a", b=2, c=8, d=2, e=1),
     [("A", 1, "", "a"), ("V", 5, "a", "v"), ("B", 1, "v", "b"), ("C", 1, "b", "c"), ("D", 1, "c", "d"), ("E", 1, "v d", "e")]),
    ("old_view_lives", "the base is made again while an old view keeps the old storage",
     dict(a=4, n=4, v="a", b=4, c=3, d=1, e=1),
     [("A", 2, "", "a n"), ("V", 3, "a", "v"), ("B", 1, "n", "b"), ("C", 1, "b", "c"), ("D", 1, "v c", "d"), ("E", 1, "a n d", "e")]),
    ("view_of_input", "views of a graph input cost nothing",
     dict(x=5, v="x", w="v", a=4, b=6, c=2),
     [("V", 0, "x", "v"), ("W", 0, "v", "w"), ("A", 1, "w", "a"), ("B", 1, "a", "b"), ("C", 1, "b v a", "c")]),
    ("inplace_then_old", "the old value is read after it was overwritten: it has to be made again",
     dict(a=4, b=4, c=3, d=1, e=1),
     [("A", 2, "", "a"), ("M", 1, "a", "b", over("a>b")), ("C", 1, "b", "c"), ("D", 1, "c a", "d"), ("E", 1, "d", "e")], (), "A M C D E"),
    ("inplace_once", "the old value cannot be made again: its reader must come first",
     dict(a=4, b=4, c=3, d=1, e=1),
     [("A", 2, "", "a", dict(recomputable=False)), ("M", 1, "a", "b", over("a>b")), ("C", 1, "b", "c"), ("D", 1, "a", "d"), ("E", 1, "c d", "e")]),
    ("inplace_chain", "three updates of one storage; a late reader of the middle one",
     dict(a=6, b=6, c=6, d=6, m=1, e=5, f=1),
     [("A", 1, "", "a"), ("B", 1, "a", "b", over("a>b")), ("M", 1, "b", "m"), ("C", 1, "b m", "c", over("b>c")), ("D", 1, "c", "d", over("c>d")),
      ("E", 1, "d", "e"), ("F", 1, "e m", "f")]),
    ("inplace_input", "a graph input is overwritten: its room stays taken, its value is gone for good",
     dict(x=6, y=6, a=2, b=4, c=1),
     [("A", 1, "x", "a"), ("M", 1, "x a", "y", over("x>y")), ("B", 1, "y", "b"), ("C", 1, "b a", "c")]),
    ("inplace_view", "an update through a view takes over the base's storage and ends all its names",
     dict(a=5, v="a", u=5, b=2, c=6, d=1),
     [("A", 2, "", "a"), ("V", 0, "a", "v"), ("B", 1, "v", "b"), ("M", 1, "v b", "u", over("v>u")), ("C", 1, "u", "c"), ("D", 1, "c a", "d")], (), "A V B M C D"),
    ("optimizer_step", "weights and moments updated in place, gradients kept no longer than needed",
     dict(w=4, m=4, x=2, h=6, l=1, g=4, m2=4, w2=4),
     [("F", 3, "x w", "h"), ("L", 1, "h", "l"), ("G", 4, "l h w", "g"), ("M", 1, "m g", "m2", over("m>m2")), ("U", 1, "w m2 g", "w2", over("w>w2"))], ["m2", "w2"]),
    ("two_outputs_one_needed", "a rerun for one output makes the other one too, and it needs room",
     dict(a=2, big=7, b=3, c=6, d=1, e=1),
     [("A", 1, "", "a"), ("S", 2, "a", "big b"), ("C", 1, "big", "c"), ("D", 1, "c", "d"), ("E", 1, "d b", "e")]),
    ("unread_output", "an output that nobody reads dies at once, but not before its op has ended",
     dict(a=3, u=6, b=2, c=5, d=1),
     [("A", 1, "", "a"), ("S", 1, "a", "u b"), ("C", 1, "b", "c"), ("D", 1, "c a b", "d")]),
    ("workspace", "workspace counts while the op runs and at every rerun",
     dict(a=2, b=3, c=4, d=2, e=1),
     [("A", 1, "", "a"), ("B", 1, "a", "b", dict(workspace=6)), ("C", 2, "b", "c"), ("D", 1, "c", "d"), ("E", 1, "d b", "e")]),
    ("dropout_mask", "the mask of a random op has to be kept, what is made from it not",
     dict(x=4, y=4, m=1, h=6, g=1, d=4, e=1),
     [("A", 2, "", "x"), ("R", 1, "x", "y m", dict(recomputable=False)), ("H", 1, "y", "h"), ("G", 1, "h", "g"), ("D", 1, "g m", "d"), ("E", 1, "d x", "e")]),
    ("collective", "an op that may run once reads what can be made again, and is read by what can be",
     dict(a=5, r=3, b=6, c=2, d=1, e=1),
     [("A", 2, "", "a"), ("R", 1, "a", "r", dict(recomputable=False)), ("B", 1, "r", "b"), ("C", 1, "b", "c"), ("D", 1, "c a", "d"), ("E", 1, "d r", "e")]),
    ("kept_outputs", "outputs made early stay to the end; making them late is cheaper",
     dict(a=3, o=6, b=4, c=5, d=1),
     [("A", 1, "", "a"), ("O", 2, "a", "o"), ("B", 1, "a", "b"), ("C", 1, "b", "c"), ("D", 1, "c", "d")], ["o", "d"]),
    ("kept_and_read", "an output that is also read may be dropped in between and made again for the end",
     dict(a=2, o=6, b=1, c=7, d=1),
     [("A", 1, "", "a"), ("O", 2, "a", "o"), ("B", 1, "o", "b"), ("C", 1, "b", "c"), ("D", 1, "c", "d")], ["o", "d"]),
    ("input_is_output", "a graph input that is also a graph output",
     dict(x=4, a=3, b=5), [("A", 1, "x", "a"), ("B", 1, "a", "b")], ["x", "b"]),
    ("unused_input", "a graph input that nobody reads takes room all the same",
     dict(x=7, y=2, a=3, b=3), [("A", 1, "y", "a"), ("B", 1, "a", "b")]),
    ("sink", "an op without outputs, and one without inputs or outputs",
     dict(a=5, b=2, c=6), [("A", 2, "", "a"), ("N", 1, "", ""), ("B", 1, "a", "b"), ("C", 1, "b", "c"), ("S", 1, "c", ""), ("T", 1, "a b", "")]),
    ("control_edge", "a tensor of no bytes orders two ops",
     dict(a=5, t=0, b=5, c=1, d=1), [("A", 1, "", "a"), ("T", 1, "a", "t c"), ("B", 1, "t", "b"), ("D", 1, "b c", "d")]),
    ("all_zero", "nothing has bytes: any budget will do", dict(a=0, b=0), [("A", 1, "", "a"), ("B", 0, "a", "b")], ["b"]),
    ("zero_durations", "reruns that cost nothing still need room",
     dict(a=4, b=3, c=5, d=1, e=1), [("A", 0, "", "a"), ("B", 0, "a", "b"), ("C", 0, "b", "c"), ("D", 0, "c", "d"), ("E", 0, "d a", "e")]),
    ("absent_and_twice", "absent inputs and one listed twice",
     dict(a=4, b=4, c=4, d=1), [("A", 1, "", "a"), ("B", 1, ["a", "", "a"], "b"), ("C", 1, ["", "b"], "c"), ("D", 1, "c a a", "d")]),
    ("huge", "sizes and durations beyond 2^53",
     dict(a=2**56, b=2**56, c=2**56 + 1, d=1), [("A", 2**60 + 1, "", "a"), ("B", 2**60, "a", "b"), ("C", 2**60 + 1, "b", "c"), ("D", 2**60, "c a", "d")]),
    ("reorder_beats_rerun", "another order needs no rerun",
     dict(a=1, p=6, q=1, r=6, s=1, z=1),
     [("A", 1, "", "a"), ("P", 3, "a", "p"), ("R", 3, "a", "r"), ("Q", 1, "p", "q"), ("S", 1, "r", "s"), ("Z", 1, "q s", "z")]),
    ("given_order", "the given order is not the file's order",
     dict(a=4, b=4, c=1, d=1, e=1),
     [("B", 1, "", "b"), ("A", 1, "", "a"), ("D", 1, "b", "d"), ("C", 1, "a", "c"), ("E", 1, "c d", "e")], (), "A B C D E"),
    ("rerun_chain", "dropping one value means making three again, or keeping the middle one",
     dict(a=4, b=3, c=4, d=5, e=5, f=1, g=1),
     [("A", 3, "", "a"), ("B", 3, "a", "b"), ("C", 3, "b", "c"), ("D", 1, "c", "d"), ("E", 1, "d", "e"), ("F", 1, "e", "f"), ("G", 1, "f c a", "g")]),
    ("made_again_together", "two values dropped and made again together for one reader",
     dict(a=3, b=3, c=6, x=1, d=1, e=1),
     [("A", 1, "", "a"), ("B", 1, "", "b"), ("X", 1, "b a", "x"), ("C", 1, "x", "c"), ("D", 1, "c", "d"), ("E", 1, "d b a", "e")]),
    ("bigger_input", "making a small value again keeps a bigger input alive: dropping something else is cheaper",
     dict(big=8, s=2, m=5, c=6, d=1, e=1),
     [("I", 4, "", "big"), ("S", 1, "big", "s"), ("M", 2, "s", "m"), ("C", 1, "m", "c"), ("D", 1, "c", "d"), ("E", 1, "d s m", "e")]),
    ("resident_source", "what is made of graph inputs alone can be made again at any time, if there is room for it",
     dict(x=3, w=2, a=5, b=5, c=4, d=4, e=1),
     [("A", 2, "x", "a"), ("B", 3, "x w", "b"), ("C", 1, "a b", "c"), ("D", 1, "c", "d"), ("E", 1, "d b a", "e")]),
    ("inputs_fill_it", "graph inputs leave one op's worth of room",
     dict(x=9, y=8, a=2, b=2, c=2, d=1), [("A", 1, "x", "a"), ("B", 2, "y a", "b"), ("C", 1, "b", "c"), ("D", 1, "c a", "d")]),
    ("rerun_never_fits", "an op with a large workspace runs once early; it could never run again beside what is kept",
     dict(k=4, a=4, b=4, c=3, d=1, e=1),
     [("A", 1, "", "a", dict(workspace=9)), ("K", 3, "", "k", dict(recomputable=False)), ("B", 1, "a", "b"), ("C", 1, "b k", "c"), ("D", 1, "c", "d"),
      ("E", 1, "d a k", "e")]),
    ("views_of_both", "views of two values, both outputs, through a chain and of an output that is read again",
     dict(a=4, v="a", w="v", b=4, u="b", c=6, d=1),
     [("A", 2, "", "a"), ("V", 0, "a", "v"), ("W", 1, "v", "w"), ("B", 3, "w", "b"), ("U", 0, "b", "u"), ("C", 1, "u", "c"), ("D", 1, "c a", "d")], ["w", "u"]),
    ("inplace_output_view", "an output is a view of what an in-place op made; the old value is made again for a late reader",
     dict(a=5, b=5, v="b", c=4, d=1),
     [("A", 2, "", "a"), ("M", 1, "a", "b", over("a>b")), ("V", 0, "b", "v"), ("C", 1, "v", "c"), ("D", 1, "c a", "d")], ["v"], "A M V C D"),
    ("two_overwritten", "one op overwrites two values; a reader of one old value needs only that one again",
     dict(a=4, b=4, p=4, q=4, c=3, d=1),
     [("A", 2, "", "a"), ("B", 3, "", "b"), ("M", 1, "a b", "p q", over("a>p", "b>q")), ("C", 1, "p q", "c"), ("D", 1, "c a", "d")], ["q"], "A B M C D"),
    ("once_after_rerun", "a once-only op in the middle of a chain that is made again around it",
     dict(a=4, r=1, b=5, c=5, d=1, e=1),
     [("A", 2, "", "a"), ("R", 1, "a", "r", dict(recomputable=False)), ("B", 2, "a r", "b"), ("C", 1, "b", "c"), ("D", 1, "c", "d"), ("E", 1, "d b", "e")]),
    ("parts_dropped_apart", "two outputs of one op: one is dropped and made again while the other is still there",
     dict(a=2, p=5, q=5, c=4, d=1, e=1),
     [("A", 1, "", "a"), ("S", 3, "a", "p q"), ("C", 1, "q", "c"), ("D", 1, "c q", "d"), ("E", 1, "d p q", "e")]),
    ("output_view_overwritten", "an output is a view of what is overwritten: base and view are made again for the end",
     dict(a=4, v="a", b=4, c=6, d=1),
     [("A", 2, "", "a"), ("V", 1, "a", "v"), ("M", 1, "a v", "b", over("a>b")), ("C", 3, "b", "c"), ("D", 1, "c", "d")], ["v", "d"], "A V M C D"),
    ("sibling_views", "two views of one base, an update through one of them ends the other",
     dict(a=5, v="a", w="a", u=5, c=3, d=1),
     [("A", 3, "", "a"), ("V", 1, "a", "v"), ("W", 2, "a", "w"), ("M", 1, "v", "u", over("v>u")), ("C", 1, "u", "c"), ("D", 1, "c w", "d")], (), "A V W M C D"),
    ("view_chain_remade", "outputs are views of views, of a base that is dropped and made again in between",
     dict(a=5, v="a", w="v", x="v", b=1, c=9, d=1),
     [("A", 3, "", "a"), ("V", 1, "a", "v"), ("W", 0, "v", "w"), ("X", 2, "v", "x"), ("B", 1, "w", "b"), ("C", 1, "b", "c"), ("D", 1, "c", "d")],
     ["x", "w", "d"]),
    ("input_twice_over", "a graph input is overwritten twice; the middle value cannot be had again",
     dict(x=5, y=5, z=5, a=3, b=3, c=1),
     [("A", 2, "x", "a"), ("M", 1, "x", "y", over("x>y")), ("B", 1, "y a", "b"), ("N", 1, "y", "z", over("y>z")), ("C", 1, "b z a", "c")], ["z"]),
    ("inplace_of_two", "one of two outputs is overwritten; making it again makes the other again beside the kept one",
     dict(a=2, p=4, q=4, u=4, c=3, d=1),
     [("A", 1, "", "a"), ("S", 2, "a", "p q"), ("M", 1, "p", "u", over("p>u")), ("C", 1, "u q", "c"), ("D", 1, "c q p", "d")], (), "A S M C D"),
    ("inplace_workspace", "an in-place op with workspace, run again on a value made again",
     dict(a=5, b=5, c=4, d=4, e=1),
     [("A", 2, "", "a"), ("M", 1, "a", "b", dict(workspace=3, inplace=[["a", "b"]])), ("C", 1, "b", "c"), ("D", 2, "c", "d", dict(workspace=2)),
      ("E", 1, "d b", "e")]),
    ("nothing_overwritten", "values of no bytes in place and as views: only the order is bound by them",
     dict(t=0, u=0, v="u", a=5, b=5, c=1),
     [("T", 1, "", "t a"), ("U", 0, "t", "u", over("t>u")), ("V", 0, "u", "v"), ("B", 1, "v", "b"), ("C", 1, "b a v", "c")], ["v"]),
    ("free_reruns_once", "reruns that cost nothing around an op that may run only once and costs nothing either",
     dict(a=4, r=1, b=4, c=4, d=1),
     [("A", 0, "", "a"), ("R", 0, "a", "r", dict(recomputable=False)), ("B", 0, "a r", "b"), ("C", 0, "b", "c"), ("D", 1, "c b a", "d")]),
    ("same_names", "ops and tensors of the same names; an output listed twice",
     dict(f=4, g=3, h=5, k=1),
     [("g", 2, "", "f"), ("f", 1, "f", "g"), ("k", 1, "g", "h"), ("h", 1, "h f f", "k")], ["k", "k"]),
    ("late_output_reader", "an output is read again at the very end, long after its value was dropped",
     dict(a=2, o=5, b=5, c=5, d=2, e=1),
     [("A", 2, "", "a"), ("O", 3, "a", "o"), ("B", 1, "a", "b"), ("C", 1, "b", "c"), ("D", 1, "c", "d"), ("E", 1, "d o", "e")], ["o", "e"]),
    ("once_two_outputs", "the unread output of an op that may run once has room to find only once; the read one has to stay",
     dict(a=3, m=2, u=6, b=4, c=5, d=1),
     [("A", 2, "", "a"), ("R", 1, "a", "m u", dict(recomputable=False)), ("B", 1, "a m", "b"), ("C", 1, "b", "c"), ("D", 1, "c b m", "d")]),
    ("inputs_of_views_kept", "graph inputs, one of them an output through a view, one of no bytes, leave the rest of the budget",
     dict(x=6, v="x", z=0, a=3, b=4, c=2),
     [("V", 0, "x", "v"), ("A", 1, "v z", "a"), ("B", 1, "a", "b"), ("C", 1, "b a x", "c")], ["v", "c"]),
    ("other_size", "an in-place output that says another size: the storage keeps its own",
     dict(a=6, b=2, c=3, d=1),
     [("A", 1, "", "a"), ("M", 1, "a", "b", over("a>b")), ("C", 2, "b", "c"), ("D", 1, "c b", "d")], ["b"]),
]


def main():
    tool = sys.argv[1]
    for case in CASES:
        name, fault, tensors, ops = case[:4]
        outputs = case[4] if len(case) > 4 else ()
        order = case[5] if len(case) > 5 else None
        g = graph(name, tensors, ops, outputs, order)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(dict(id=name, fault=fault, graph=g), f)
            f.flush()
            made = json.loads(subprocess.run([tool, f.name], check=True, capture_output=True, text=True).stdout)
        g = made["graph"]
        lines = ['{"id": %s, "fault": %s,' % (json.dumps(name), json.dumps(fault))]
        lines.append('"graph": {"format": "ebbtide-graph", "version": 1, "name": %s,' % json.dumps(name))
        lines.append('"tensors": [\n' + ",\n".join(json.dumps(t) for t in g["tensors"]) + "],")
        tail = "".join(", %s: %s" % (json.dumps(k), json.dumps(g[k])) for k in ("outputs", "order") if k in g)
        lines.append('"ops": [\n' + ",\n".join(json.dumps(o) for o in g["ops"]) + "]" + tail + "},")
        lines.append('"checks": [\n' + ",\n".join(json.dumps(c) for c in made["checks"]) + "]}")
        with open(os.path.join(HERE, name + ".json"), "w") as f:
            f.write("\n".join(lines) + "\n")
        print(name, [(c["order"], c["budget"], c.get("duration")) for c in made["checks"]])


if __name__ == "__main__":
    main()
