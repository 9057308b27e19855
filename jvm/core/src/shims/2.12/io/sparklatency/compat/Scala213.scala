package io.sparklatency.compat

import scala.collection.IterableView
import scala.collection.TraversableLike
import scala.collection.generic.CanBuildFrom
import scala.collection.mutable
import scala.language.implicitConversions
import scala.util.Try

/**
 * What Scala 2.13 has and Scala 2.12 lacks, under the same names: as much of it as is used here. The package object of each room is one,
 * so that the sources are the same for both. Of the Spark lines only 3.5 is of Scala 2.12.
 *
 * Without state, for any thread. A call costs one small object more than in Scala 2.13, and none is made for a record.
 */
trait Scala213 {
  import Scala213._

  implicit def newerOptions(options: Option.type): Options = new Options(options)
  implicit def newerOption[A](option: Option[A]): OfOption[A] = new OfOption(option)
  implicit def newerString(text: String): OfString = new OfString(text)
  implicit def newerItems[A](items: TraversableOnce[A]): Items[A] = new Items(items)
  implicit def newerGroups[A, Same](items: TraversableLike[A, Same]): Groups[A, Same] = new Groups(items)
  implicit def newerSeq[A](items: Seq[A]): OfSeq[A] = new OfSeq(items)
  implicit def newerIterator[A](items: Iterator[A]): OfIterator[A] = new OfIterator(items)
  implicit def newerMap[K, V](map: Map[K, V]): OfMap[K, V] = new OfMap(map)
  implicit def newerView[K, V](view: IterableView[(K, V), _]): OfView[K, V] = new OfView(view)
  implicit def newerMutableSet[A](set: mutable.Set[A]): OfMutableSet[A] = new OfMutableSet(set)
  implicit def newerMutableMap[K, V](map: mutable.Map[K, V]): OfMutableMap[K, V] = new OfMutableMap(map)
  implicit def newerMutableMaps(maps: mutable.Map.type): MutableMaps = new MutableMaps(maps)
}

object Scala213 {
  final class Options(options: Option.type) {
    def when[A](condition: Boolean)(value: => A): Option[A] =
      if (condition) Some(value) else options.empty
  }

  final class OfOption[A](option: Option[A]) {
    def zip[B](other: Option[B]): Option[(A, B)] = for (one <- option; two <- other) yield (one, two)
  }

  final class OfString(text: String) {
    def toIntOption: Option[Int] = Try(text.toInt).toOption
    def toBooleanOption: Option[Boolean] = Try(text.toBoolean).toOption
  }

  final class Items[A](items: TraversableOnce[A]) {
    def minOption[B >: A](implicit order: Ordering[B]): Option[A] = reduced(order.lteq(_, _))
    def maxOption[B >: A](implicit order: Ordering[B]): Option[A] = reduced(order.gteq(_, _))
    def maxByOption[B](by: A => B)(implicit order: Ordering[B]): Option[A] =
      if (items.isEmpty) None else Some(items.maxBy(by))

    private def reduced(first: (A, A) => Boolean): Option[A] =
      items.reduceOption((one, two) => if (first(one, two)) one else two)
  }

  final class Groups[A, Same](items: TraversableLike[A, Same]) {
    def groupMap[K, B, All](key: A => K)(value: A => B)(
        implicit build: CanBuildFrom[Same, B, All]
    ): Map[K, All] = {
      val groups = mutable.LinkedHashMap.empty[K, mutable.Builder[B, All]]
      items.foreach(item => groups.getOrElseUpdate(key(item), build()) += value(item))
      groups.iterator.map { case (key, group) => key -> group.result() }.toMap
    }

    def groupMapReduce[K, B](key: A => K)(value: A => B)(reduce: (B, B) => B): Map[K, B] = {
      val reduced = mutable.LinkedHashMap.empty[K, B]
      items.foreach { item =>
        val (group, next) = (key(item), value(item))
        reduced(group) = reduced.get(group).fold(next)(reduce(_, next))
      }
      reduced.toMap
    }
  }

  final class OfSeq[A](items: Seq[A]) {
    def appended[B >: A](item: B): Seq[B] = items :+ item
    def findLast(is: A => Boolean): Option[A] = items.reverseIterator.find(is)

    def distinctBy[B](by: A => B): Seq[A] = {
      val seen = mutable.Set.empty[B]
      items.filter(item => seen.add(by(item)))
    }

    def lazyZip[B](others: Seq[B]): Zipped[A, B] = new Zipped(items, others)
  }

  final class Zipped[A, B](ones: Seq[A], twos: Seq[B]) {
    def lazyZip[C](others: Seq[C]): Zipped3[A, B, C] = new Zipped3(ones, twos, others)
  }

  final class Zipped3[A, B, C](ones: Seq[A], twos: Seq[B], threes: Seq[C]) {
    def map[D](of: (A, B, C) => D): Seq[D] = (ones, twos, threes).zipped.map(of)
  }

  final class OfIterator[A](items: Iterator[A]) {
    def nextOption(): Option[A] = if (items.hasNext) Some(items.next()) else None
  }

  final class OfMap[K, V](map: Map[K, V]) {
    def removed(key: K): Map[K, V] = map - key
  }

  final class OfView[K, V](view: IterableView[(K, V), _]) {
    def mapValues[W](of: V => W): Iterator[(K, W)] = view.iterator.map { case (key, value) =>
      key -> of(value)
    }
  }

  final class OfMutableSet[A](set: mutable.Set[A]) {
    def filterInPlace(keep: A => Boolean): Unit = set.retain(keep)
  }

  final class OfMutableMap[K, V](map: mutable.Map[K, V]) {
    def mapValuesInPlace(of: (K, V) => V): Unit = { map.transform(of); () }
  }

  final class MutableMaps(maps: mutable.Map.type) {
    def from[K, V](items: TraversableOnce[(K, V)]): mutable.Map[K, V] = maps(items.toSeq: _*)
  }
}
