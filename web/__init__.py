"""Pages, the live stream and the command line. They ask a desk and call its verbs; they hold no rules of their own."""
