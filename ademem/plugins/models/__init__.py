"""Build the graph of the embedding model from its published weights, which a package index has."""

BUILDER = "ademem.plugins.models.graph"
