"""Lemmas 1 to 4: the ε of LPP, LPP‡ and PCKV-UE; and the average degree of eq. (6)."""

from __future__ import annotations

from deniable.design import warner
from deniable.estimate.bipartite import per_vertex
from deniable.keyvalue.design import KeyValueDesign, lpp, lpp_ddagger, pckv_ue
from deniable.keyvalue.relax import symbol_design
from deniable.reproduce.printed import printed, starting
from deniable.reproduce.values import Content, Exhibit, Printed, Setting

_BUDGETS = ((0.5, 0.5), (1.0, 1.0), (0.2, 2.0), (0.1, 0.5))


def lemma_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """LPP: the ε with a fake weight that is secret, and with one that is known."""
    entry = printed("000-lemma1")
    return Content(
        (entry.against(lpp(2, entry.inputs["eps1"], entry.inputs["eps2"]).epsilon),),
        ("ε₁", "ε₂", "ε, secret fake weight", "ε, fake weight 0 known", "ε, fake weight 1 known"),
        tuple(
            (one, two, *(lpp(2, one, two, fake_weight=fake).epsilon for fake in (None, 0, 1))) for one, two in _BUDGETS
        ),
        notes=(
            "ε₁ + ε₂ is right only for a fake weight that everybody knows and that is as large as it can be. A secret "
            "one averages out: LPP is then LPP‡ (erratum 0.14).",
        ),
    )


def lemma_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """LPP‡: the ε of both devices together."""
    return Content(
        tuple(
            entry.against(lpp_ddagger(2, epsilon1=entry.inputs["eps1"], epsilon2=entry.inputs["eps2"]).epsilon)
            for entry in starting("000-lemma2-")
        ),
        notes=(
            "Two edges of opposite weight can be told apart with ε₂ alone, which the lemma leaves out (erratum 0.13).",
        ),
    )


def lemma_3(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The fake weight with the smallest ε."""
    entry = printed("000-eq54")
    one, two, tried = (entry.inputs[name] for name in ("eps1", "eps2", "tried"))
    found = {fake: lpp(2, one, two, fake_weight=fake).epsilon for fake in tried}
    # Where ε₂ decides, the weights of the channel are still rounded down: equal but for the last of 64 bits.
    least = [fake for fake in tried if found[fake] <= min(found.values()) + 1e-12]
    weights = (0, 0.05, 0.1, 0.25, 0.5, 1)
    return Content(
        (entry.against(least),),
        ("known fake weight", *(f"ε at ε₁ = {one:g}, ε₂ = {two:g}" for one, two in _BUDGETS)),
        tuple((fake, *(lpp(2, one, two, fake_weight=fake).epsilon for one, two in _BUDGETS)) for fake in weights),
        notes=("A fake weight of 0 is best, but not alone where ε₂ decides (erratum 0.17).",),
    )


def lemma_4(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """PCKV-UE: the ε of a vector with one item, and of one place of it."""
    vectors = [entry for prefix in ("000-lemma4-0", "000-eq57-") for entry in starting(prefix)]
    alone = printed("000-lemma4-coordinate")
    return Content(
        (
            *(entry.against(_pckv(entry).epsilon) for entry in vectors),
            alone.against(symbol_design(_pckv(alone)).epsilon),
        ),
        notes=(
            "The ε of the lemma is that of a whole vector in which one item was put, not of the 3 × 3 matrix that the "
            "wording names (erratum 0.20); the line that derives it has two slips (erratum 0.19).",
        ),
    )


def equation_6(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The average degree of a bipartite graph."""
    entry = printed("000-eq6")
    people, items, edges = (entry.inputs[name] for name in ("n", "m", "edges"))
    return Content(
        (entry.against(edges * per_vertex(people, items, "items")),),
        notes=(
            "What is printed is the share of all pairs of vertices that are joined, not an average (erratum 0.12).",
        ),
    )


def _pckv(entry: Printed) -> KeyValueDesign:
    """Build the design of an entry; its sign is kept as Warner's design of ε₂ keeps an answer."""
    sign = warner(entry.inputs["eps2"])
    kept = sign.probability(sign.symbols[0], given=sign.categories[0])
    return pckv_ue(2, a=entry.inputs["a"], b=entry.inputs["b"], p=kept)


LEMMAS = (
    Exhibit("rr3", "equation", "6", "The average degree of a bipartite graph", equation_6),
    Exhibit("rr3", "lemma", "1", "The ε of LPP", lemma_1),
    Exhibit("rr3", "lemma", "2", "The ε of LPP‡", lemma_2),
    Exhibit("rr3", "lemma", "3", "The fake weight with the smallest ε", lemma_3),
    Exhibit("rr3", "lemma", "4", "The ε of PCKV-UE", lemma_4),
)
