"""The hub as a carrier: what travels between a store and a server, and the rounds of a client."""
