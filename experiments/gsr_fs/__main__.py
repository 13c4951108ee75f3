"""``python -m experiments.gsr_fs --quick | --full | --page``."""

from ..frame import main
from .study import STUDY

raise SystemExit(main(STUDY))
