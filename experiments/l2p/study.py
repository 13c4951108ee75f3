"""The study of the l2,p paper."""

from ..frame import Study
from .claims import claims
from .measure import plan
from .page import page

STUDY = Study("l2p", plan, page, claims)
