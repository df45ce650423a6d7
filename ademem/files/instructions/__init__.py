"""Instruction files that a team wrote for agents, read in place: which they are and what they say.

`formats` knows the files, `items` takes their text apart, `places` finds where an item applies, and
`reading` puts these together. Nothing here writes a file or a database.
"""
