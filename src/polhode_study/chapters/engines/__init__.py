"""The engine atlas."""
