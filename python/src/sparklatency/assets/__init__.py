"""Configuration for monitoring systems, made of the one table of metrics."""
