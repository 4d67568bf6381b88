"""Proposals and questions: a piece waits, a person decides, and the piece goes on from where it stood (rules P).

`whom` says who is asked and who may decide; `proposals` and `questions` are the verbs; `deadlines` ends what nobody
answered in time; `holding` keeps a decision for a moment before it is carried out, and `held` is what is kept so.
"""
