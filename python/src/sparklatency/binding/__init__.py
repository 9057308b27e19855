"""What ties Python to Spark's JVM: jars, session, marks."""
