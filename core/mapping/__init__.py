"""The map of an app's agents, read off their declarations alone: who may hand what on to whom, and what could reach
what. What the map tells of use, seats and limits is put in by the desk. Only `kept`, which keeps what was declared
version by version, reads and writes a database.
"""

from core.mapping.around import MANY, around, groups, under
from core.mapping.compare import compare
from core.mapping.declared import declared
from core.mapping.earlier import earlier
from core.mapping.graph import ABOVE_NONE, key_of, the_map
from core.mapping.kept import compared, keep, since, then, versions
from core.mapping.reach import LONGEST, MOST_PATHS, reach

__all__ = [
    "ABOVE_NONE",
    "LONGEST",
    "MANY",
    "MOST_PATHS",
    "around",
    "compare",
    "compared",
    "declared",
    "earlier",
    "groups",
    "keep",
    "key_of",
    "reach",
    "since",
    "the_map",
    "then",
    "under",
    "versions",
]
