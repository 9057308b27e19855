package io.sparklatency

import io.sparklatency.compat.Scala213

package object time extends Scala213
package object recording extends Scala213
package object figures extends Scala213
package object path extends Scala213
package object answer extends Scala213
package object drawing extends Scala213
package object exposition extends Scala213
