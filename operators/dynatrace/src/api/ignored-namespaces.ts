/** The namespaces that a DynaKube ignores: those of the platform, or those of an annotation. */
import { BoundedMap } from '../bounded-map.ts'
import { parseTextList } from './annotation-values.ts'
import { FEATURE_PREFIX, flagText } from './feature-flags.ts'
import type { DynaKube } from './latest.ts'
import { type NamespaceMatcher, namespaceMatcher, PATTERN_LIMITS } from './namespace-patterns.ts'

const FLAG = 'ignored-namespaces'

/** Namespaces of the platform, which are ignored unless the annotation says otherwise. */
const PLATFORM_NAMESPACE = /^kube-|^openshift|^gke-|^gmp-/

/** The ignored namespaces of a DynaKube. */
export interface IgnoredNamespaces {
  /** Whether pods of a namespace are never injected or enriched. */
  readonly includes: (namespace: string) => boolean
  /**
   * A sentence about the annotation when it exceeds its limits. What exceeds them is ignored; the namespaces of the
   * platform are then ignored as well, because the list is incomplete.
   */
  readonly excess: string | undefined
}

/** Values that are kept compiled: few DynaKubes have the annotation, and most of them the same. */
const MAX_VALUES = 32

/**
 * Reads the annotation of DynaKubes, and compiles each value once however often it is used. One per process: it
 * remembers.
 *
 * @example
 * const patterns = new IgnoredNamespacePatterns()
 * if (patterns.of(dynakube).includes('kube-system')) …
 */
export class IgnoredNamespacePatterns {
  /** By the value of the annotation; an invalid value has none. */
  readonly #compiled = new BoundedMap<string, NamespaceMatcher | 'unreadable'>(MAX_VALUES)

  /** A value that cannot be read counts as not given. */
  of(dynakube: DynaKube): IgnoredNamespaces {
    const { namespace = '' } = dynakube.metadata
    const byDefault = (name: string) => name === namespace || PLATFORM_NAMESPACE.test(name)
    const value = flagText(dynakube, FLAG)
    const given = value === '' ? 'unreadable' : this.#compile(value)
    if (given === 'unreadable') return { includes: byDefault, excess: undefined }
    const { matches, excess } = given
    if (excess.length === 0) return { includes: matches, excess: undefined }
    return { includes: (name) => matches(name) || byDefault(name), excess: excessText(excess) }
  }

  #compile(value: string): NamespaceMatcher | 'unreadable' {
    const known = this.#compiled.get(value)
    if (known !== undefined) return known
    const { maxListLength } = PATTERN_LIMITS
    if (value.length > maxListLength) {
      // Neither read nor kept.
      const excess = `has ${value.length} characters; at most ${maxListLength} are allowed: say several names by one pattern`
      return { matches: () => false, excess: [excess] }
    }
    const patterns = parseTextList(value)
    const compiled = patterns === undefined ? 'unreadable' : namespaceMatcher(patterns)
    this.#compiled.set(value, compiled)
    return compiled
  }
}

function excessText(excess: readonly string[]): string {
  const [first = ''] = excess
  const more = excess.length > 1 ? ` (and ${excess.length - 1} more like this)` : ''
  return `the annotation ${FEATURE_PREFIX}${FLAG} exceeds its limits: ${first}${more}`
}
