"""Learning from labels and features that were released as responses, with estimators of scikit-learn or any other."""
