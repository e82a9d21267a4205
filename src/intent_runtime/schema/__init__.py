"""Business schemas: the subset, selections, native validation (contract section 5)."""
