"""``python -m experiments.l2p --quick | --full | --page``."""

from ..frame import main
from .study import STUDY

raise SystemExit(main(STUDY))
