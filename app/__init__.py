"""Countersign: an HTTP admission service that AI agents ask before they act."""
