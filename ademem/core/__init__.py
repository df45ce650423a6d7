"""Words that every room uses: values, settings, clock, text, files, git, project, redaction."""
