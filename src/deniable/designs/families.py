"""The list of all families of designs: a new family is one registered function and one line here.

`deniable` and `deniable.designs` take their names from here; the shell lists families in this order, the best known
first.
"""
# ruff: noqa: I001, PLC0414 - sorted by purpose; `as` makes a name public
# `deniable` reads a line for each family.
# fmt: off

# Surveys, yes or no, with cards, dice, coins or a spinner
from deniable.designs.two_answers import warner as warner
from deniable.designs.many_answers import forced_response as forced_response
from deniable.designs.two_answers import simmons as simmons
from deniable.designs.two_answers import devore as devore
from deniable.designs.two_answers import mangat as mangat
from deniable.designs.two_answers import mangat_singh as mangat_singh
from deniable.designs.two_answers import mangat_singh_singh as mangat_singh_singh
from deniable.designs.two_answers import mangat_unrelated as mangat_unrelated
from deniable.designs.two_answers import singh_joarder as singh_joarder
from deniable.designs.two_answers import correlated_question as correlated_question
from deniable.designs.two_answers import mirrored as mirrored
from deniable.designs.two_answers import disguised as disguised
from deniable.designs.two_answers import kuk as kuk
from deniable.designs.cards import christofides as christofides
from deniable.designs.two_answers import hard_garbling as hard_garbling

# Surveys, yes or no, with a harmless question in place of a device
from deniable.designs.two_answers import crosswise as crosswise
from deniable.designs.two_answers import triangular as triangular
from deniable.designs.two_answers import number_sequence as number_sequence

# Surveys, three answers or more
from deniable.designs.many_answers import forced_choice as forced_choice
from deniable.designs.many_answers import negative_survey as negative_survey
from deniable.designs.three_answers import rr3_dagger as rr3_dagger
from deniable.designs.three_answers import rr3_ddagger as rr3_ddagger
from deniable.designs.three_answers import rr3_club as rr3_club

# Apps and telemetry
from deniable.designs.many_answers import k_ary as k_ary
from deniable.designs.sets_of_answers import subset as subset
from deniable.designs.sets_of_answers import mixture as mixture
from deniable.designs.sets_of_answers import unary as unary
from deniable.designs.sets_of_answers import rappor as rappor
from deniable.designs.sets_of_answers import truncated_rappor as truncated_rappor
from deniable.designs.many_answers import hadamard as hadamard
from deniable.designs.many_answers import local_hashing as local_hashing

# Ordered categories
from deniable.designs.ordered import window as window

# Several questions of one respondent
from deniable.designs.attributes import product as product
from deniable.designs.attributes import items as items
from deniable.designs.attributes import direct as direct

# From probabilities of your own, or with a δ
from deniable.designs.two_answers import binary as binary
from deniable.designs.many_answers import matrix as matrix
from deniable.designs.two_answers_relaxed import relaxed_warner as relaxed_warner
from deniable.designs.two_answers_relaxed import capped_binary as capped_binary
from deniable.designs.two_answers_relaxed import exposing_binary as exposing_binary
from deniable.designs.sets_of_answers_relaxed import relaxed_subset as relaxed_subset
from deniable.designs.sets_of_answers_relaxed import exposing_subset as exposing_subset
