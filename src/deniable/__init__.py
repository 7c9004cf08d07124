"""Randomized response, end to end: design → respond → tally → estimate.

`import deniable as dn` is all that a user needs. The four verbs and everything they take and return are names of `dn`;
the namespaces are few: `dn.plan` and `dn.simulate` before anybody is asked, `dn.fieldkit` to ask on paper,
`dn.criteria` and `dn.attacks` for what is promised and what an attacker learns, `dn.compliance` for people who do not
follow the device, `dn.report` for words and pictures, `dn.engines` for where rows run, `dn.errors`.

Names are loaded when they are first used, so that `import deniable` stays light. Type checkers and editors read them in
`__init__.pyi`; a test holds that both say the same.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.2.0"

_HOMES = {
    name: home
    for home, names in {
        "": (
            "attacks",
            "criteria",
            "engines",
            "errors",
            "fieldkit",
            "plan",
            "report",
            "simulate",
        ),
        "auditor": (
            "Audit",
            "audit",
        ),
        "certificates": (
            "Certificate",
            "certify",
        ),
        "client": (
            "Client",
            "Hub",
            "NotSent",
            "NotTaken",
        ),
        "designs": (
            "AnyDesign",
            "Deck",
            "Design",
            "NumberDesign",
            "Range",
            "binary",
            "capped_binary",
            "christofides",
            "correlated_question",
            "crosswise",
            "devore",
            "direct",
            "disguised",
            "exposing_binary",
            "exposure_threshold",
            "feasible_binary",
            "forced_choice",
            "forced_response",
            "hadamard",
            "hard_garbling",
            "integer_deck",
            "items",
            "k_ary",
            "kuk",
            "local_hashing",
            "mangat",
            "mangat_singh",
            "mangat_singh_singh",
            "mangat_unrelated",
            "matrix",
            "mirrored",
            "mixture",
            "negative_survey",
            "number_design",
            "number_sequence",
            "optimal_binary",
            "product",
            "rappor",
            "relaxed_warner",
            "rr3_club",
            "rr3_dagger",
            "rr3_ddagger",
            "simmons",
            "singh_joarder",
            "subset",
            "triangular",
            "truncated_rappor",
            "unary",
            "warner",
            "window",
        ),
        "documents": ("Response",),
        "errors": ("DeniableError",),
        "estimates": (
            "Caution",
            "CrossTable",
            "DeckEstimate",
            "Estimate",
            "Interval",
            "Posterior",
            "Result",
            "Sensitivity",
            "Summary",
            "TwoSamples",
            "compliance",
            "cross_table",
            "posterior",
            "unrelated_two_samples",
        ),
        "estimates.cross_tables": ("independence",),
        "estimates.differences": ("Differences",),
        "estimates.groups": ("GroupedEstimate",),
        "estimates.measures": (
            "Correlation",
            "TableMeasure",
            "correlation",
        ),
        "estimates.regression": (
            "Regression",
            "regress",
        ),
        "estimates.sampling": (
            "Replicates",
            "SampledEstimate",
            "Sampling",
        ),
        "estimates.sampling.tables": ("SampledTable",),
        "estimates.stages": (
            "Combined",
            "Mixed",
        ),
        "estimates.statistics": ("Statistic",),
        "estimates.testing": ("HypothesisTest",),
        "order.admissibility": (
            "admissible",
            "repair",
        ),
        "order.blackwell": (
            "compare",
            "garbling",
        ),
        "order.ladders": (
            "Ladder",
            "Relaxation",
        ),
        "order.relaxation": (
            "best_ladder",
            "extend",
            "ladder",
            "relax",
        ),
        "plan": ("optimal",),
        "types.drawn.design": (
            "DrawnDesign",
            "drawn_items",
        ),
        "types.drawn.estimate": ("DrawnEstimate",),
        "types.drawn.count": ("DrawnTally",),
        "types.edges.design": (
            "EdgeDesign",
            "one_edge",
        ),
        "types.edges.estimate": ("EdgeEstimate",),
        "types.edges.count": ("EdgeTally",),
        "types.key_value.design": (
            "KeyValueDesign",
            "lpp",
            "lpp_club",
            "lpp_ddagger",
            "pckv_grr",
            "pckv_ue",
            "vpp",
        ),
        "types.key_value.estimate": ("KeyValueEstimate",),
        "types.key_value.count": ("KeyValueTally",),
        "types.numbers.estimate": (
            "Mean",
            "NumberEstimate",
            "mean",
            "spread",
        ),
        "types.numbers.respond": ("rounded",),
        "types.numbers.count": ("NumberTally",),
        "pairs.estimates": (
            "Association",
            "PairedDesigns",
            "association",
        ),
        "estimates.scrambled.designs": (
            "Scrambling",
            "scrambled",
        ),
        "estimates.scrambled.estimates": ("ScrambledMean",),
        "types.strings.design": (
            "Bloom",
            "NoisySampling",
            "Prefixes",
            "StringDesign",
            "StringResponse",
            "schedule",
            "string_design",
        ),
        "types.strings.estimate": (
            "Candidates",
            "StringEstimate",
        ),
        "types.strings.count": (
            "NoisyTally",
            "StringTally",
        ),
        "release.coalition": ("worth",),
        "release.ledger": ("Ledger",),
        "release.market": (
            "Market",
            "Prices",
        ),
        "release.panel": ("Panel",),
        "responses.stages": (
            "degrade",
            "upgrade",
        ),
        "survey": (
            "Codebook",
            "HarmlessQuestion",
            "Question",
            "QuestionTexts",
            "Survey",
            "SurveyArm",
            "SurveyTexts",
            "harmless_question",
            "survey_template",
        ),
        "survey.packages": ("survey_design",),
        "tallies": ("Tally",),
        "tallies.collected": (
            "CollectedColumn",
            "read_responses",
            "tally_column",
            "tally_columns",
        ),
        "tallies.counts": ("Declared",),
        "tallies.decks": ("DeckTally",),
        "tallies.groups": ("GroupedTally",),
        "tallies.responses": ("Responses",),
        "tallies.separate": ("SeparateTallies",),
        "tallies.stages": ("StageTallies",),
        "tallies.weighted": ("WeightedTally",),
        "verbs": (
            "estimate",
            "respond",
            "respond_all",
            "tally",
        ),
    }.items()
    for name in names
}

__all__ = [*_HOMES]  # noqa: PLE0604 - every entry is text


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'deniable' has no attribute {name!r}")
    found = getattr(import_module(f"deniable.{home}"), name) if home else import_module(f"deniable.{name}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
