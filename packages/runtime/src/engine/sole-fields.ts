/**
 * Lists and maps that only one writer may fill. Server-side apply merges the entries of several writers, and that is
 * usually right; but two ports of a Service must not share a name, so that a port that was renumbered
 * manually would prevent the original from being restored.
 */
import { isRecord, ownValue } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'

type Json = Readonly<Record<string, unknown>>

/**
 * The merge patch that removes what other managers added to the fields at `paths`; `undefined` when there is nothing to
 * remove. Lists are replaced as a whole, as soon as one of their entries is not desired.
 *
 * @example
 * withoutForeignEntries(service, live, ['spec.ports']) // { spec: { ports: [{ name: 'http', port: 80 }] } }
 */
export function withoutForeignEntries(
  object: KubeObject,
  live: KubeObject,
  paths: readonly string[],
): Json | undefined {
  const patches = paths.flatMap((path) => {
    const steps = path.split('.')
    const patch = removal(valueAt(object, steps), valueAt(live, steps))
    return patch === undefined ? [] : [{ steps, patch }]
  })
  if (patches.length === 0) return undefined
  return patches.reduce<Json>((all, { steps, patch }) => placed(all, steps, patch), {})
}

function removal(wanted: unknown, live: unknown): unknown {
  if (Array.isArray(wanted) && Array.isArray(live)) {
    const isForeign = (entry: unknown) => !wanted.some((one) => isPartOf(one, entry))
    return live.some(isForeign) ? wanted : undefined
  }
  if (!isRecord(wanted) || !isRecord(live)) return undefined
  const foreign = Object.keys(live).filter((key) => !Object.hasOwn(wanted, key))
  return foreign.length === 0 ? undefined : Object.fromEntries(foreign.map((key) => [key, null]))
}

/** Whether the server's version of an entry contains everything that was desired; the server adds defaults. */
export function isPartOf(wanted: unknown, live: unknown): boolean {
  if (isRecord(wanted)) {
    return isRecord(live) && Object.entries(wanted).every(([key, value]) => isPartOf(value, ownValue(live, key)))
  }
  if (Array.isArray(wanted)) {
    return Array.isArray(live) && wanted.length === live.length && wanted.every((one, at) => isPartOf(one, live[at]))
  }
  return wanted === live
}

function valueAt(object: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((value, step) => (isRecord(value) ? value[step] : undefined), object)
}

function placed(into: Json, [first, ...rest]: readonly string[], value: unknown): Json {
  if (first === undefined) return into
  if (rest.length === 0) return { ...into, [first]: value }
  const below = into[first]
  return { ...into, [first]: placed(isRecord(below) ? below : {}, rest, value) }
}
