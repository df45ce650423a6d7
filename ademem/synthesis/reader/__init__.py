"""Read an ended session once by the client's own model, and keep what its answer can prove."""
