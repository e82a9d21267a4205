"""Checking what a model wrote (contract section 8)."""
