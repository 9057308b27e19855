"""What was measured, as values of one moment that do not change any more."""
