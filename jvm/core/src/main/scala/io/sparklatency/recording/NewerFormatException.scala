package io.sparklatency.recording

/**
 * What was to be read was written by a newer sparklatency, in a format that this one does not know. Guessing would give wrong
 * figures, so it is refused.
 *
 * @param what  was to be read, in the plural
 * @param found the version of its format
 * @param known the newest version that this sparklatency reads
 */
final class NewerFormatException(what: String, val found: Int, val known: Int)
    extends IllegalArgumentException(
      s"$what of format $found were written by a newer sparklatency; this one reads formats up to $known: " +
        "upgrade sparklatency on the History Server, or wherever else they are read"
    )
