/** What a scenario file says not to compare. */
import { isRecord } from '@reeve/http'
import type { PlainObject } from '../operator-under-test.ts'
import { ScenarioError } from './scenario-fields.ts'

interface Ignored {
  readonly resource: string
  /** Of one object, or of all. */
  readonly key: string | undefined
  readonly path: readonly string[]
}

/**
 * Reads rules such as `deployments.apps metadata.annotations."example.com/checked"` for a field and `configmaps
 * default/cache` for an object, and returns what removes all of that.
 *
 * *Errors*: {@link ScenarioError} for a rule that is neither.
 */
export function ignoring(rules: readonly string[]): (resource: string, object: PlainObject) => PlainObject | undefined {
  const ignored = rules.map(readRule)
  return (resource, object) => {
    const { namespace, name } = object.metadata as { readonly namespace?: string; readonly name?: string }
    const key = namespace === undefined ? name : `${namespace}/${name}`
    let kept: PlainObject = object
    for (const rule of ignored) {
      if (rule.resource !== resource || (rule.key !== undefined && rule.key !== key)) continue
      if (rule.path.length === 0) return undefined
      kept = without(kept, rule.path) as PlainObject
    }
    return kept
  }
}

function readRule(rule: string): Ignored {
  const [resource = '', ...parts] = rule.split(' ').filter((part) => part !== '')
  const [first = '', second] = parts
  if (resource === '' || first === '' || parts.length > 2)
    throw new ScenarioError(`ignore: "${rule}" must be a resource and a field, or a resource and namespace/name`)
  // A field may have a slash only in quotes.
  const isKey = first.includes('/') && !first.includes('"')
  if (second !== undefined) return { resource, key: first, path: pathOf(second) }
  return isKey ? { resource, key: first, path: [] } : { resource, key: undefined, path: pathOf(first) }
}

function pathOf(field: string): readonly string[] {
  return [...field.matchAll(/"([^"]+)"|([^."]+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

function without(value: unknown, [first = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, [first, ...rest]))
  if (!isRecord(value)) return value
  if (rest.length > 0) return first in value ? { ...value, [first]: without(value[first], rest) } : value
  const { [first]: _, ...others } = value
  return others
}
