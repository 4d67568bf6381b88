"""Who is told that a piece is due (`Dispatcher`), and who is told that a tree has new lines (`Bus`).

Both carry ids only, at least once, in any order; doubled or lost without harm: what is true stands in the database.
"""
