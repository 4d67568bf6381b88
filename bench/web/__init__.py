"""What the pages cost: a served app in a real Chromium, as it is and with its processor slowed to a quarter.
`python -m bench.web --help`."""
