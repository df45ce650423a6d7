"""Training of the judges, and their rates on texts of authors that training never saw."""
