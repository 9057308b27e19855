package io

/** The tests of core stand here. */
package object sparklatency extends sparklatency.compat.Scala213
