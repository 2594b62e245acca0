/** Regular expressions that users write into an annotation: in the dialect of Kubernetes tools, and never slow. */
import { RE2JS } from 're2js'

/**
 * Tells whether a name contains a match of one of the patterns; one that is no regular expression matches nothing.
 *
 * *Guarantee*: time grows with the length of the name only. The engine of JavaScript backtracks: a pattern such as
 * `(a+)+$` in an annotation would stop the whole process for minutes.
 */
export function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  const compiled = patterns.flatMap((pattern) => compile(pattern))
  return (name) => compiled.some((each) => each.matcher(name).find())
}

function compile(pattern: string): readonly RE2JS[] {
  try {
    return [RE2JS.compile(pattern)]
  } catch {
    // An annotation is not checked on admission: one bad pattern must not stop the others.
    return []
  }
}
