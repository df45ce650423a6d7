"""Words that every room uses: values, settings, clock, text, JSON, files, git, project, redaction."""
