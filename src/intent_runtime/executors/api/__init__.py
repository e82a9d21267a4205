"""Model APIs through their official SDKs; each module is loaded with its provider."""
