"""Values of the API as values to show, for the terminal, JSON and pages; pure."""
