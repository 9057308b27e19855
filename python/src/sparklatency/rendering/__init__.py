"""Values as text, as HTML and as tables of a terminal, in the same words: those of the JVM."""
