"""Wang & Chen (2013), "l2,p matrix norm and its application in feature selection"."""
