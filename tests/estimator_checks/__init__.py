"""Checks that every selector of rowsparse must pass, beyond scikit-learn's own."""
