"""What takes a library that is an extra: tables for pandas, pictures by matplotlib. It knows no latency."""
