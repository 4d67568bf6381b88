"""What the engine costs: the same scripted trees on Handon and on a bare loop, in one run. `python -m bench --help`."""
