"""Where figures are read: in the JVM of this process, or in another's by its UI."""
