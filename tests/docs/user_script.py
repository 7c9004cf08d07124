"""Every verb on every type of design, as a user writes it; `test_typing.py` runs it and asks two checkers about it."""

import deniable as dn

ITEMS, HABITS = ["tea", "milk"], ["never", "once", "often"]

design = dn.k_ary(HABITS, epsilon=1)
both = dn.product({"smokes": dn.warner(1), "habit": design})
ladder = dn.ladder(dn.k_ary(HABITS, epsilon=e) for e in (1, 2))
deck = dn.integer_deck(4, epsilon=2)
records, edges = dn.lpp_club(ITEMS, epsilon=1), dn.one_edge(ITEMS, epsilon=1)
strings = dn.string_design(dn.Bloom(16, cohorts=2), epsilon=4)
numbers = dn.number_design(0, 80, epsilon=1)

one = (
    dn.respond(design, "once"),
    dn.respond(both, {"smokes": "yes", "habit": "never"}),
    dn.respond(ladder, "often"),
)
two = (
    dn.respond(deck, "yes", card=1),
    dn.respond(records, {"tea": 0.5}),
    dn.respond(edges, {"tea": 1}),
)
three = dn.respond(strings, "Smith"), dn.respond(numbers, 37.5)

sent = (
    dn.respond_all(design, ["once", None] * 9),
    dn.respond_all(ladder, ["once"] * 9),
    dn.respond_all(deck, ["no"] * 4),
)
more = (
    dn.respond_all(records, [{"tea": 1}] * 9),
    dn.respond_all(edges, [{"tea": 1}] * 9),
)
last = dn.respond_all(strings, ["Smith"] * 9), dn.respond_all(numbers, [37.5] * 9)

tallies = (
    dn.tally(sent[0]),
    dn.tally(sent[1]),
    dn.tally(sent[2]),
    dn.tally(more[0]),
    dn.tally(more[1]),
)
others = (
    dn.tally(last[0]),
    dn.tally(last[1]),
    dn.tally(both, [one[1]] * 3),
    dn.tally(ladder, [one[2]] * 3),
)
singles = (
    dn.tally(deck, [1, 3]),
    dn.tally(records, [two[1]]),
    dn.tally(strings, [three[0]]),
    dn.tally(numbers, [three[1]]),
)

shares, stages, cards = (
    dn.estimate(tallies[0]),
    dn.estimate(tallies[1]),
    dn.estimate(tallies[2]),
)
items, weights = dn.estimate(tallies[3]), dn.estimate(tallies[4])
names, mean = (
    dn.estimate(others[0], candidates=["Smith", "Jones"]),
    dn.estimate(others[1], population=100),
)
sample = dn.Sampling([1.0] * 9)
people = (
    dn.estimate(sent[0], sampling=dn.Sampling([1.0] * 18)),
    dn.estimate(sent[1], sampling=sample, reached=[0, 1, 1] * 3),
    dn.estimate(
        dn.respond_all(dn.integer_deck(9, epsilon=2), ["no"] * 9), sampling=sample
    ),
    dn.estimate(last[1], sampling=sample),
    dn.estimate(
        dn.Responses.of(
            {1: design, 2: dn.direct(HABITS)}, HABITS * 3, devices=[1, 2, 1] * 3
        ),
        sampling=sample,
    ),
)
told = (
    shares.params["once"],
    stages.bse,
    cards.conf_int()["yes"].low,
    items.summary(),
    weights.to_json(),
    names.warnings,
)
size = (
    dn.plan.sample_size(design, margin=0.05),
    dn.criteria.Epsilon(1).check(design),
    mean.mean.value,
)

drawn = dn.Sampling([1.0, 2.0, 1.0] * 3, clusters=list("aaabbbccc"))
sampled = (
    dn.estimate(more[0], sampling=drawn, scaling="fixed"),
    dn.estimate(more[1], sampling=drawn),
    dn.estimate(last[0], ["Smith", "Jones"], sampling=drawn),
)
