/** Checks that a pod has the shape that injection relies on: an API server sends nothing else, but anyone can call. */
import { isRecord } from '@reeve/http'
import { metadataProblems, type Pod } from '@reeve/kube'
import type { InjectablePod } from './injection-input.ts'

type Check = (value: unknown, field: string) => string | undefined

const text: Check = (value, field) => (typeof value === 'string' ? undefined : `${field} must be a string`)
const integer: Check = (value, field) => (Number.isInteger(value) ? undefined : `${field} must be an integer`)

const optional =
  (check: Check): Check =>
  (value, field) =>
    value === undefined ? undefined : check(value, field)

const listOf =
  (check: Check): Check =>
  (value, field) => {
    if (!Array.isArray(value)) return `${field} must be a list`
    for (const [index, item] of value.entries()) {
      const problem = check(item, `${field}[${index}]`)
      if (problem !== undefined) return problem
    }
    return undefined
  }

const members =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, field) => {
    if (!isRecord(value)) return `${field} must be an object`
    for (const [name, check] of Object.entries(checks)) {
      const problem = check(value[name], `${field}.${name}`)
      if (problem !== undefined) return problem
    }
    return undefined
  }

const ids = members({ runAsUser: optional(integer), runAsGroup: optional(integer) })

const container = members({
  name: text,
  image: optional(text),
  args: optional(listOf(text)),
  env: optional(listOf(members({ name: text, value: optional(text), valueFrom: optional(members({})) }))),
  volumeMounts: optional(listOf(members({ name: text, mountPath: text }))),
  securityContext: optional(ids),
})

const spec = members({
  containers: listOf(container),
  initContainers: optional(listOf(container)),
  volumes: optional(listOf(members({ name: text }))),
  securityContext: optional(ids),
  os: optional(members({ name: optional(text) })),
})

/**
 * The pod, or what is wrong with it as a sentence that names the field. Nulls must have been removed.
 *
 * @example
 * const read = readPod({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers: 'app' } })
 * // { problem: 'spec.containers must be a list' }
 */
export function readPod(object: Pod): { readonly pod: InjectablePod } | { readonly problem: string } {
  if (object.apiVersion !== 'v1' || object.kind !== 'Pod') {
    return { problem: `expected Pod of v1, not ${object.kind} of ${object.apiVersion}` }
  }
  const [wrong] = metadataProblems(object.metadata)
  if (wrong !== undefined) return { problem: `${wrong.field} ${wrong.message}` }
  const problem = spec(object.spec, 'spec')
  // The check above has checked every field that injection reads.
  return problem === undefined ? { pod: object as InjectablePod } : { problem }
}
