"""The engine: declarations, work, money, rights and the record. It knows nothing of the web."""
