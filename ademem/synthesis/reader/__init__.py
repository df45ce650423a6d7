"""Read an ended session once by the client's own model, and keep what its answer can prove."""

PURPOSE = "reader"
"""Word for these calls in the list of costs, and source type of the memories."""
DAILY = 20
"""Most calls for a project in a day."""
OFFER = (
    "`ademem config set learn.reader on --user` lets the small model of your client read each"
    f" session once when it has ended: at most {DAILY} a day, each for less than 0.2 US cents with"
    " Claude Code 2.1.332; its redacted text goes once more to the provider of your sessions"
)
"""The reader's price and recipient, as `install` and the page offer it."""
