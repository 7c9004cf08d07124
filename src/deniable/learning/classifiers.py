"""A classifier of scikit-learn that learns from labels that were released as responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    clone,
    is_regressor,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix, vector
from deniable.estimates.simplex import projection
from deniable.learning.corrections import corrected_labels, corrected_rows
from deniable.tallies.responses import Responses

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_REGRESSOR = "Wrap a regressor, such as Ridge() or HistGradientBoostingRegressor(): it needs no weights."


def _has_probabilities(classifier: CorrectedClassifier) -> bool:
    estimator = classifier.estimator
    return is_regressor(estimator) or hasattr(estimator, "predict_proba")


class CorrectedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # without types
    """A classifier that learns from responses in place of labels, and predicts true answers.

    A classifier is fitted to each row once for every possible answer, with the weights of `corrected_rows`: its loss is
    on average that at the true labels. Some weights are negative; linear classifiers, boosting, naive Bayes and small
    trees take them. A regressor is fitted to the columns of `corrected_labels` and needs no weights: use one where a
    classifier refuses weights or is left to grow until it fits each row.

    Grid searches and cross-validation work as usual: `score` estimates the accuracy on true answers without bias, from
    responses alone.

    Attributes:
        estimator: a classifier whose `fit` takes `sample_weight`, or a regressor.
        design: what the labels were released with.
        classes_: the possible answers, sorted.
        estimator_: the fitted estimator; of a regressor one for each class.

    Example:
        >>> import numpy as np
        >>> import deniable as dn
        >>> from sklearn.linear_model import LogisticRegression
        >>> x, design = np.linspace(-2, 2, 4000)[:, None], dn.warner(epsilon=2)
        >>> released = dn.respond_all(design, np.where(x[:, 0] > 0, "yes", "no"))
        >>> CorrectedClassifier(LogisticRegression(), design).fit(x, released).predict([[-1], [1]]).tolist()
        ['no', 'yes']
    """

    def __init__(self, estimator: object, design: Design) -> None:
        self.estimator = estimator
        self.design = design

    def fit(self, X: object, y: ArrayLike | Responses[Design]) -> Self:
        """Fit the estimator; rows without a response are left out.

        Args:
            X: the features of each row.
            y: what each row sent, as `Responses.of` reads it.

        Raises:
            InvalidRequest: a classifier whose `fit` takes no weights.
            InvalidResponse: a label that the design cannot send.
        """
        validate_data(self, X, skip_check_array=True)
        responses, categories = self._read(y), np.array(self.design.categories)
        check_consistent_length(X, responses)
        self.classes_ = np.sort(categories)
        if is_regressor(self.estimator):
            labels = corrected_labels(responses)[:, np.argsort(categories)]
            present = np.flatnonzero(~responses.gaps)
            self.estimator_ = MultiOutputRegressor(self.estimator).fit(
                _safe_indexing(X, present), labels[present]
            )
            return self
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise InvalidRequest(
                f"fit() of {type(self.estimator).__name__} takes no sample_weight; expected a classifier that does, or "
                "a regressor.",
                f"{_REGRESSOR} In a pipeline let CorrectedClassifier be the last step.",
            )
        rows, (answers,), weights = corrected_rows(responses)
        try:
            self.estimator_ = clone(self.estimator).fit(
                _safe_indexing(X, rows), answers, sample_weight=weights
            )
        except ValueError as error:
            error.add_note(f"Some corrected weights are negative. {_REGRESSOR}")
            raise
        return self

    def predict(self, X: object) -> NDArray[np.str_]:
        """Return the likeliest true answer of each row."""
        check_is_fitted(self)
        if is_regressor(self.estimator):
            likeliest = self.predict_proba(X).argmax(axis=1)
            return np.asarray(self.classes_[likeliest])
        return np.asarray(self.estimator_.predict(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: object) -> Matrix:
        """Return the probability of each true answer, a column for each of `classes_`; projected onto the simplex."""
        check_is_fitted(self)
        if is_regressor(self.estimator):
            return projection(vector(self.estimator_.predict(X)))
        return projection(vector(self.estimator_.predict_proba(X)))

    def score(
        self,
        X: object,
        y: ArrayLike | Responses[Design],
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return an unbiased estimate of the accuracy on true answers; it may leave [0, 1].

        Args:
            X: the features of each row.
            y: what each row sent.
            sample_weight: how much each row counts.
        """
        responses = self._read(y)
        labels = corrected_labels(responses)[:, np.argsort(self.design.categories)]
        numbers = np.searchsorted(self.classes_, self.predict(X))
        hits = np.take_along_axis(labels, numbers[:, None], axis=1)[:, 0]
        present = ~responses.gaps
        weights = (
            None if sample_weight is None else np.asarray(sample_weight)[present]
        )
        return float(np.average(hits[present], weights=weights))

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn should know: sparse features are taken where the estimator takes them."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    def _read(self, y: ArrayLike | Responses[Design]) -> Responses[Design]:
        if isinstance(y, Responses):
            y.check(self.design)
            return y
        return Responses.of(self.design, y)
