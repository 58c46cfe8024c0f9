# SPDX-License-Identifier: Apache-2.0
"""Figures of others, to stand beside what is measured here. Nothing here was measured by bench/run."""

# Bartan et al. 2023, table of their experiments, as far as at hand: (TDI %, seconds) at a budget.
MOCCASIN_PAPER = {
    ("RL G2 n=250 @0.9", "moccasin"): (0.9, 55.0),
    ("RL G2 n=250 @0.9", "checkmate"): (0.9, 685.1),
    ("RL G2 n=250 @0.9", "checkmate-lp"): (93.0, None),
}
# Moccasin's own program, CP-SAT 9.15 with 8 workers, run on a machine like this one before: (TDI %, seconds, word).
MOCCASIN_OWN = {
    "RL G1 n=100 @0.9": (0.789, 61, "optimal under C = 2"),
    "RL G1 n=100 @0.8": (2.296, 78, "optimal under C = 2"),
    "RL G2 n=250 @0.9": (17.86, 1400, "nothing in 840 s"),
    "ResNet50 train @0.9": (None, 1200, "nothing"),
    "FCN8 train @0.9": (0.029, 20, "optimal under C = 2"),
    "FCN8 train @0.8": (0.136, 21, "optimal under C = 2"),
}
# A smaller program of Checkmate's kind (20,000 variables at n = 100, the paper's has 31,000) in HiGHS 1.16 with 1 thread on an
# idle machine like this one, before: (TDI %, seconds), optimal.
CHECKMATE_IDLE = {"RL G1 n=100 @0.9": (0.7892, 11.5), "RL G1 n=100 @0.8": (2.2965, 28)}
# Peaks without recomputation of the eight traces as DTR's simulator counts them, in bytes; budgets are shares of these.
DTR_PEAKS = {
    "resnet32-56": 10061179152, "unet-6": 8415764640, "tv_densenet121-84": 11020749360, "inceptionv4-64": 11245348984,
    "transformer-10": 9864405000, "lstm-128": 5595127736, "treelstm-6": 170173608, "unroll_gan-512": 252677418,
}
# Overhead in percent that DTR's simulator had there (the better of its two best heuristics); None: out of memory.
_AT = ("0.8", "0.6", "0.5", "0.4", "0.3", "0.2")
_ROWS = {
    "resnet32-56": (2.48, 7.37, 10.68, 14.04, 17.86, 33.2), "unet-6": (5.77, 14.9, 15.9, None, None, None),
    "tv_densenet121-84": (6.38, 14.1, 17.6, 29.3, 42.6, 61.6), "inceptionv4-64": (2.44, 6.62, 9.19, 13.8, 24.4),
    "transformer-10": (1.99, 4.42, 5.84, 9.14, 12.4), "lstm-128": (2.68, 4.25, 7.10, 15.9, 36.5),
    "treelstm-6": (1.32, 7.16, 12.7, 19.0), "unroll_gan-512": (2.40, 5.81, 6.86, 8.00, 11.1),
}
DTR_OWN = {f"{name} @{at}": value for name, row in _ROWS.items() for at, value in zip(_AT, row)}
