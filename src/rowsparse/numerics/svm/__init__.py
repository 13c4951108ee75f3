"""One support vector machine with an unpenalised bias."""
