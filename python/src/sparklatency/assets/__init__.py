"""Configuration for monitoring systems, made from the one table of metrics."""
