"""Does the auditor find what leaks, and only that? `python -m benchmarks.audit_peers [RUNS] [NAME …]`

Every row is one call of `dn.audit` with its defaults at a claimed ε of 1 (or the design's own): no hint of what may be
wrong. Leaks must be found within ten minutes each, in one run: two of other packages, seven planted ones in copies of
our designs, and more that were met on the way. Sound mechanisms, ours and others', must not be flagged in any of RUNS
runs (5). Ends with 1 otherwise. Rows whose package is missing are left out: `scripts/bench-peers` sets up
.venv-peers with them, for `PYTHONPATH=src .venv-peers/bin/python -m benchmarks.audit_peers`.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from tests.support import leaky

import deniable as dn

RUNS, LONGEST = 5, 600.0
EPSILON = 1.0


class Row(NamedTuple):
    """What is audited: a name, what to hand over, and the answers; a design says its answers and its ε itself."""

    name: str
    thing: object
    answers: Sequence[object] | None = None
    epsilon: float | None = EPSILON
    delta: float = 0.0


def one_by_one(name: str, design: Any, **options: Any) -> Row:
    """A design of ours as a function from an answer to a response."""
    return Row(
        name,
        lambda answer: dn.respond(design, answer).symbol,
        design.categories,
        **options,
    )


def ours() -> list[Row]:
    """Designs of ours, drawn one by one with the system's source and in bulk by the engine."""
    numbers, weighed = dn.number_design(0, 10, 1), {"epsilon": 1}
    singles = {
        "warner": dn.warner(1),
        "simmons": dn.simmons(1),
        "forced response": dn.forced_response("1/2", "1/4"),
        "k-ary, k = 3": dn.k_ary(3, 1),
        "k-ary, k = 16": dn.k_ary(16, 1),
        "unary, k = 8": dn.unary(8, 1),
        "unary optimized, k = 8": dn.unary(8, 1, optimized=True),
        "rappor, k = 4": dn.rappor(4, 1),
        "subset, k = 8": dn.subset(8, 1),
        "hadamard, k = 7": dn.hadamard(7, 1),
        "local hashing, k = 8": dn.local_hashing(8, 1),
    }
    bulk = {
        "warner": dn.warner(1),
        "binary": dn.binary("3/5", "4/5"),
        "k-ary, k = 64": dn.k_ary(64, 1),
        "unary, k = 64": dn.unary(64, 1),
        "unary optimized, k = 32": dn.unary(32, 1, optimized=True),
        "subset, k = 32": dn.subset(32, 1),
        "truncated rappor, k = 4": dn.truncated_rappor(4, 1),
        "hadamard, k = 31": dn.hadamard(31, 1),
        "local hashing, k = 64": dn.local_hashing(64, 1),
        "three answers": dn.rr3_club(epsilon=1),
        "product of two": dn.product([dn.warner("1/2"), dn.k_ary(3, "1/2")]),
        "numbers": numbers,
        "key-value": dn.pckv_grr(["a", "b", "c"], **weighed, padding=1),
        "strings": dn.string_design(dn.Bloom(16), epsilon=1),
    }
    return [
        *(
            one_by_one(f"ours, one by one: {name}", each, epsilon=each.epsilon)
            for name, each in singles.items()
        ),
        *(
            Row(f"ours, in bulk: {name}", each, None, None)
            for name, each in bulk.items()
        ),
    ]


def same(value: int) -> int:
    """Number an item as it is."""
    return value


def pure_ldp() -> tuple[list[Row], list[Row]]:
    """Sound and leaking rows of pure-ldp.

    The noise bits of SUE and OUE come from NumPy's global generator, which a fork copies. So does the coin of OLH, but
    its hashes are fresh: too little repeats to be found in every run, so that it stands in neither list.
    """
    from pure_ldp.frequency_oracles.direct_encoding import DEClient
    from pure_ldp.frequency_oracles.hadamard_response import (
        HadamardResponseClient,
        HadamardResponseServer,
    )
    from pure_ldp.frequency_oracles.rappor import RAPPORClient, RAPPORServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    hashes = HadamardResponseServer(EPSILON, 8, same).get_hash_funcs()
    clients = {
        "DE": (DEClient(EPSILON, 4, same), 4),
        "Hadamard response": (HadamardResponseClient(EPSILON, 8, hashes, same), 8),
    }
    f = 2 / (1 + math.exp(EPSILON / 2))
    server = RAPPORServer(f=f, m=4, k=1, d=4, num_of_cohorts=1, index_mapper=same)
    rappor = RAPPORClient(
        f=f,
        m=4,
        hash_funcs=server.get_hash_funcs(),
        num_of_cohorts=1,
        index_mapper=same,
    )
    sound = [
        Row(f"pure-ldp {name}", client.privatise, range(k))
        for name, (client, k) in clients.items()
    ]
    forked = [
        Row(
            f"pure-ldp {name}, forked",
            UEClient(EPSILON, 4, name == "OUE", same).privatise,
            range(4),
        )
        for name in ("SUE", "OUE")
    ]
    return sound, [
        Row("pure-ldp RAPPOR client", rappor.privatise, range(16)),
        *forked,
    ]


def multi_freq_ldpy() -> tuple[list[Row], list[Row]]:
    """Sound and leaking rows of multi-freq-ldpy; the seeds of its local hashing are NumPy's, which a fork copies."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    sound = [
        Row("multi-freq-ldpy GRR", lambda v: GRR_Client(v, 4, EPSILON), range(4)),
        Row(
            "multi-freq-ldpy SUE",
            lambda v: UE_Client(v, 4, EPSILON, False),
            range(4),
        ),
        Row(
            "multi-freq-ldpy OUE", lambda v: UE_Client(v, 4, EPSILON, True), range(4)
        ),
        Row(
            "multi-freq-ldpy subset, as a set",
            lambda v: sorted(SS_Client(v, 8, EPSILON).tolist()),
            range(8),
        ),
    ]
    returned = [
        Row(
            f"multi-freq-ldpy subset as returned, k = {k}",
            lambda v, k=k: SS_Client(v, k, EPSILON),
            range(k),
        )
        for k in (8, 128)
    ]
    return sound, [
        *returned,
        Row(
            "multi-freq-ldpy OLH, forked",
            lambda v: LH_Client(v, 8, EPSILON),
            range(8),
        ),
    ]


def diffprivlib() -> tuple[list[Row], list[Row]]:
    """Rows of diffprivlib, with its secure generator."""
    from diffprivlib.mechanisms import Binary, ExponentialCategorical

    binary = Binary(epsilon=EPSILON, value0="0", value1="1")
    pairs = [[a, b, 1.0] for at, a in enumerate(leaky.FOUR) for b in leaky.FOUR[:at]]
    exponential = ExponentialCategorical(epsilon=EPSILON, utility_list=pairs)
    return [
        Row("diffprivlib Binary", binary.randomise, "01"),
        Row("diffprivlib ExponentialCategorical", exponential.randomise, leaky.FOUR),
    ], []


def opendp() -> tuple[list[Row], list[Row]]:
    """Rows of OpenDP."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    p, f = (
        math.exp(EPSILON) / (1 + math.exp(EPSILON)),
        2 / (1 + math.exp(EPSILON / 2)),
    )
    k_ary = dp.m.make_randomized_response(
        [0, 1, 2, 3], math.exp(EPSILON) / (math.exp(EPSILON) + 3)
    )
    bits = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=f
    )
    packed = [
        np.packbits(np.eye(8, dtype=np.uint8)[at], bitorder="little").tobytes()
        for at in range(8)
    ]
    return [
        Row(
            "opendp randomized_response_bool",
            dp.m.make_randomized_response_bool(p),
            [False, True],
        ),
        Row("opendp randomized_response", k_ary, range(4)),
        Row(
            "opendp randomized_response_bitvec",
            lambda at: bits(packed[at]),
            range(8),
        ),
    ], []


def ldp_toolbox() -> tuple[list[Row], list[Row]]:
    """Sound and leaking rows of ldp-toolbox; its local hashing draws from a generator that a fork copies."""
    from ldp_toolbox.protocols.frequency.grr import GeneralizedRandomizedResponse
    from ldp_toolbox.protocols.frequency.lh import LocalHashing
    from ldp_toolbox.protocols.frequency.ss import SubsetSelection
    from ldp_toolbox.protocols.frequency.ue import UnaryEncoding

    protocols = {
        "GRR": (GeneralizedRandomizedResponse(4, EPSILON), 4),
        "SUE": (UnaryEncoding(4, EPSILON, optimal=False), 4),
        "OUE": (UnaryEncoding(4, EPSILON, optimal=True), 4),
        "subset": (SubsetSelection(8, EPSILON), 8),
    }
    sound = [
        Row(f"ldp-toolbox {name}", each.obfuscate, range(k))
        for name, (each, k) in protocols.items()
    ]
    return sound, [
        Row(
            "ldp-toolbox OLH",
            LocalHashing(8, EPSILON, optimal=True).obfuscate,
            range(8),
        )
    ]


def qif() -> tuple[list[Row], list[Row]]:
    """The k-ary channel of qif, whose generator a fork copies."""
    library = importlib.import_module("qif")
    channel = library.mechanism.d_privacy.randomized_response(4, EPSILON)

    def draw(answer: int) -> int:
        return int(
            library.channel.sample(channel, library.probab.point(4, answer), 1)[0, 1]
        )

    return [], [Row("qif randomized_response", draw, range(4))]


PEERS: tuple[Callable[[], tuple[list[Row], list[Row]]], ...] = (
    pure_ldp,
    multi_freq_ldpy,
    diffprivlib,
    opendp,
    ldp_toolbox,
    qif,
)


def rows() -> tuple[list[Row], list[Row], list[str]]:
    """Return the leaking and the sound rows, and the packages that are missing."""
    planted = [
        Row(f"planted: {each.name}", each.mechanism, each.answers)
        for each in (*leaky.SEVEN, *leaky.MORE)
    ]
    leaking, sound, missing = planted, ours(), []
    for peer in PEERS:
        try:
            good, bad = peer()
        except ImportError as error:
            missing.append(f"{peer.__name__} ({error.name})")
            continue
        sound, leaking = sound + good, bad + leaking
    return leaking, sound, missing


def audited(row: Row) -> tuple[bool, float, str]:
    """Return whether a row was flagged, after how many seconds, and by which checks."""
    start = time.perf_counter()
    found = dn.audit(row.thing, row.answers, epsilon=row.epsilon, delta=row.delta)
    flags = ", ".join(each.check for each in found.findings if each.violated)
    sentences = " ".join(each.sentence for each in found.findings if each.violated)
    return (
        bool(flags),
        time.perf_counter() - start,
        f"{flags}: {sentences}" if flags else f"ε ≥ {found.epsilon_at_least:.3f}",
    )


def main(runs: int = RUNS, *wanted: str) -> int:
    warnings.simplefilter("ignore")
    leaking, sound, missing = rows()
    chosen = [
        row
        for row in (*leaking, *sound)
        if not wanted or any(name in row.name for name in wanted)
    ]
    print(
        "| mechanism | expected | flagged | longest, s | by |\n|---|---|---|---|---|"
    )
    bad = 0
    for row in chosen:
        leaks = row in leaking
        seen = [audited(row) for _ in range(1 if leaks else runs)]
        flagged, longest = (
            sum(each[0] for each in seen),
            max(each[1] for each in seen),
        )
        good = (
            flagged == len(seen) if leaks else flagged == 0
        ) and longest <= LONGEST
        bad += not good
        why = next((each[2] for each in seen if each[0]), seen[0][2]).replace(
            "|", "/"
        )
        told = f"{flagged} of {len(seen)}{'' if good else ' WRONG'}"
        print(
            f"| {row.name} | {'leaks' if leaks else 'sound'} | {told} | {longest:.0f} | {why:.200} |",
            flush=True,
        )
    print(
        f"\n{len(chosen)} mechanisms, {bad} judged wrongly. Left out: {', '.join(missing) or 'none'}."
    )
    return 1 if bad else 0


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main(*(int(each) for each in given[:1]), *given[1:]))
