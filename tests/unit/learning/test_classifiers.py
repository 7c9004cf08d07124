"""A classifier of scikit-learn that learns from responses: it recovers what a naive fit misses."""

from __future__ import annotations

import itertools
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LogisticRegression,
    Ridge,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import deniable as dn
from deniable.errors import InvalidRequest, InvalidResponse
from tests.support.seeded import Seeded

DESIGN = dn.warner(epsilon=1)
N = 20_000


def released(design: dn.Design, answers: Any) -> dn.Responses[dn.Design]:
    return dn.respond_all(design, answers, source=Seeded("learning"))


@pytest.fixture(scope="module")
def people() -> tuple[Any, Any, Any, Any]:
    """Features, the probability of yes, the true labels and what was sent in their place."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (N, 2))
    p = 1 / (1 + np.exp(-4 * x[:, 0]))
    truth = np.where(rng.random(N) < p, "yes", "no")
    return x, p, truth, np.array(released(DESIGN, truth))


ESTIMATORS: list[Any] = [
    LogisticRegression(),
    SGDClassifier(loss="log_loss", alpha=1e-3, average=True, random_state=0),
    DecisionTreeClassifier(max_depth=4),
    GradientBoostingClassifier(n_estimators=20, random_state=0),
    DecisionTreeRegressor(max_depth=4),
    HistGradientBoostingRegressor(max_iter=20, min_samples_leaf=300),
    Ridge(),
]


@pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=lambda each: type(each).__name__
)
def test_probabilities_are_those_of_true_answers(
    estimator: Any, people: Any
) -> None:
    """Root mean squared errors below 0.13, the naive ones above 0.2; seeds are fixed, so that there is no chance."""
    x, p, truth, sent = people
    fitted = dn.CorrectedClassifier(estimator, DESIGN).fit(x, sent)
    corrected = fitted.predict_proba(x)
    np.testing.assert_allclose(corrected.sum(axis=1), 1)
    assert np.sqrt(np.mean((corrected[:, 1] - p) ** 2)) < 0.13
    naive = clone(estimator).fit(
        x, sent == "yes" if not hasattr(estimator, "predict_proba") else sent
    )
    told = (
        naive.predict_proba(x)[:, 1]
        if hasattr(naive, "predict_proba")
        else naive.predict(x)
    )
    assert np.sqrt(np.mean((told - p) ** 2)) > 0.2
    # 0.007 is the standard deviation of the difference over 100 surveys
    accuracy = float(np.mean(fitted.predict(x) == truth))
    assert fitted.score(x, sent) == pytest.approx(accuracy, abs=0.05)


def test_the_slope_is_recovered_where_the_naive_one_is_not(people: Any) -> None:
    """Over 60 surveys the corrected slope had a mean of 4.1 and a standard deviation of 0.3, the naive one of 1.5."""
    x, _, truth, _ = people
    design, model = dn.warner(epsilon=2), LogisticRegression(C=1e6)
    sent = np.array(released(design, truth))
    corrected = dn.CorrectedClassifier(model, design).fit(x, sent).estimator_
    assert corrected.coef_[0, 0] == pytest.approx(4, abs=1)
    assert model.fit(x, sent).coef_[0, 0] < 1.7


@pytest.mark.parametrize(
    "estimator",
    [
        SGDRegressor(alpha=1e-5, average=True, random_state=0, max_iter=50),
        Ridge(alpha=1e-3, solver="sag", random_state=0),
        GradientBoostingRegressor(
            n_estimators=60, min_samples_leaf=2000, random_state=0
        ),
        DecisionTreeRegressor(max_depth=4, min_samples_leaf=2000),
    ],
    ids=lambda each: type(each).__name__,
)
def test_the_effect_of_a_released_feature_is_recovered(estimator: Any) -> None:
    """Within 0.6 of 4, where the naive effect is 1.6; over 8 or more surveys deviations are at most 0.11."""
    rng = np.random.default_rng(1)
    trait, z = rng.random(N) < 0.3, rng.normal(size=N)
    y = 1 + 4 * trait + 2 * z + rng.normal(size=N)
    sent = released(DESIGN, np.where(trait, "yes", "no"))
    rows, (answers,), weights = dn.corrected_rows(sent)

    def effect(model: Any) -> float:
        ones = np.ones(N)
        with_trait, without = (np.column_stack([z, ones * at]) for at in (1, 0))
        return float(np.mean(model.predict(with_trait) - model.predict(without)))

    features = np.column_stack([z[rows], answers == "yes"])
    fitted = estimator.fit(features, y[rows], sample_weight=weights)
    assert effect(fitted) == pytest.approx(4, abs=0.6)
    naive = clone(estimator).fit(np.column_stack([z, np.array(sent) == "yes"]), y)
    assert effect(naive) < 2


def test_several_classes_come_sorted_whatever_the_order_of_the_design() -> None:
    rng, kinds = np.random.default_rng(4), np.array(["tea", "milk", "coffee"])
    x = rng.normal(size=(6000, 2))
    truth = kinds[np.where(x[:, 0] > 0.5, 0, np.where(x[:, 1] > 0, 1, 2))]
    design = dn.k_ary(kinds.tolist(), epsilon=2)
    sent = released(design, truth)
    for estimator in (LogisticRegression(), DecisionTreeRegressor(max_depth=4)):
        fitted = dn.CorrectedClassifier(estimator, design).fit(x, sent)
        assert fitted.classes_.tolist() == ["coffee", "milk", "tea"]
        accuracy = np.mean(fitted.predict(x) == truth)
        assert accuracy > 0.9
        assert fitted.score(x, sent) == pytest.approx(accuracy, abs=0.06)


class Constant(LogisticRegression):  # type: ignore[misc]  # without types
    """Predicts what it is told."""

    def predict(self, X: Any) -> Any:
        return np.array(["no", "yes", "yes", "no"])[: len(X)]


def test_the_score_is_the_true_accuracy_on_average() -> None:
    design, truth = dn.binary("9/10", "7/10"), ["no", "no", "yes", "no"]
    x = np.arange(4.0)[:, None]
    codes = [design.category_number(each) for each in truth]
    fitted = dn.CorrectedClassifier(Constant(), design).fit(x, ["no", "yes"] * 2)
    means = np.zeros(2)
    for sent in itertools.product(range(2), repeat=4):
        chance = np.prod(
            [
                float(design.channel.probability(z, given=j))
                for z, j in zip(sent, codes, strict=True)
            ]
        )
        symbols = [design.symbols[z] for z in sent]
        scores = [
            fitted.score(x, symbols, weight) for weight in (None, [1, 2, 3, 4])
        ]
        means += chance * np.array(scores)
    assert means == pytest.approx([0.75, 0.8])


def test_a_row_without_a_response_takes_its_weight_along() -> None:
    design, x = dn.binary("9/10", "7/10"), np.arange(4.0)[:, None]
    fitted = dn.CorrectedClassifier(Constant(), design).fit(x, ["no", "yes"] * 2)
    absent, weightless = (
        fitted.score(x, [first, "no", "yes", "yes"], [weight, 1, 2, 3])
        for first, weight in ((None, 9), ("no", 0))
    )
    assert absent == pytest.approx(weightless)


def test_it_is_an_estimator_among_others(people: Any) -> None:
    x, _, truth, sent = people
    some, labels = x[:4000], np.where(np.arange(4000) % 50 == 0, None, sent[:4000])
    model = dn.CorrectedClassifier(LogisticRegression(), DESIGN)
    assert clone(model).get_params()["estimator__C"] == 1
    search = GridSearchCV(model, {"estimator__C": [1e-6, 1]}, cv=3).fit(
        some, sent[:4000]
    )
    # with five times fewer rows than above
    assert search.best_score_ == pytest.approx(0.91, abs=0.15)
    pipeline = make_pipeline(StandardScaler(), model).fit(some, labels)
    again = pickle.loads(pickle.dumps(pipeline))
    assert np.mean(again.predict(x) == truth) > 0.85
    assert (again.predict(x) == pipeline.predict(x)).all()
    without = dn.CorrectedClassifier(LinearSVC(), DESIGN).fit(some, labels)
    assert not hasattr(without, "predict_proba")
    assert set(without.predict(x)) == {"no", "yes"}


LABELS = "its labels are not those of the design, or are compared with true answers, which are texts"
CACHED = "a design computes facts about itself when they are first asked for"
EXPECTED = {
    "check_estimators_overwrite_params": CACHED,
    **dict.fromkeys(
        (
            "check_complex_data",
            "check_estimator_sparse_array",
            "check_estimator_sparse_matrix",
            "check_estimators_pickle",
            "check_classifier_data_not_an_array",
            "check_classifiers_one_label",
            "check_classifiers_classes",
            "check_classifiers_train",
            "check_classifiers_regression_target",
            "check_supervised_y_2d",
            "check_methods_sample_order_invariance",
            "check_methods_subset_invariance",
            "check_fit_idempotent",
            "check_requires_y_none",
        ),
        LABELS,
    ),
}


def test_it_passes_the_checks_that_have_labels_of_the_design() -> None:
    design = dn.k_ary([str(each) for each in range(12)], epsilon=8)
    model = dn.CorrectedClassifier(LogisticRegression(), design)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of convergence, and of checks that are skipped
        results = check_estimator(model, expected_failed_checks=EXPECTED)
    assert sum(each["status"] == "passed" for each in results) >= 35


def test_what_cannot_be_fitted_is_told_with_a_way_on() -> None:
    x, sent = np.arange(40.0)[:, None], ["yes", "no"] * 20
    with pytest.raises(InvalidRequest, match="takes no sample_weight") as refused:
        dn.CorrectedClassifier(KNeighborsClassifier(), DESIGN).fit(x, sent)
    assert "Wrap a regressor" in refused.value.hint
    with pytest.raises(ValueError, match="negative") as raised:
        dn.CorrectedClassifier(RandomForestClassifier(2), DESIGN).fit(x, sent)
    assert "Wrap a regressor" in raised.value.__notes__[0]
    with pytest.raises(InvalidResponse):
        dn.CorrectedClassifier(Ridge(), DESIGN).fit(x, ["maybe"] * 40)
    with pytest.raises(ValueError, match="inconsistent"):
        dn.CorrectedClassifier(Ridge(), DESIGN).fit(x[1:], sent)
