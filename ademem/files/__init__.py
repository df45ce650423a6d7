"""Files below `.ade/`: their formats, rendered from memories and parsed."""
