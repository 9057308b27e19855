package org.apache.spark.sql.latency.attic

/** Planted: a class in a room that nobody has drawn. `RoomsSuite` must find it. */
private final class OutsideEveryRoom
