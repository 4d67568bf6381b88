"""The map of an app's agents, read off their declarations alone: who may hand what on to whom, and what could reach
what. Nothing here reads a database; what the map tells of use, seats and limits is put in by the desk.
"""

from core.mapping.around import around
from core.mapping.graph import ABOVE_NONE, key_of, the_map
from core.mapping.reach import LONGEST, MOST_PATHS, reach

__all__ = ["ABOVE_NONE", "LONGEST", "MOST_PATHS", "around", "key_of", "reach", "the_map"]
