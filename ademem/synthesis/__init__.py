"""From many records to fewer and better: ageing, consolidation, episodes, procedures, skills."""
