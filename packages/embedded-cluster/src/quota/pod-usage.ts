/** What a pod requests, as quotas count it. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { type Amounts, add, maximum, ONE, readAmounts } from './amounts.ts'

const compute = ['cpu', 'memory', 'ephemeral-storage']

/** The usage of one pod by quota resource. A pod that has ended only counts as an object. */
export function podUsage(pod: JsonObject, nowMs: number): Amounts {
  const usage = new Map([['count/pods', ONE]])
  if (hasEnded(pod, nowMs)) return usage
  usage.set('pods', ONE)
  for (const [name, amount] of podResources(pod, 'requests')) {
    usage.set(`requests.${name}`, amount)
    // The name alone is an older spelling of the request.
    if (compute.includes(name) || name.startsWith('hugepages-')) usage.set(name, amount)
  }
  for (const [name, amount] of podResources(pod, 'limits')) usage.set(`limits.${name}`, amount)
  return usage
}

/** Names of quota resources that every container must set, and do not: `cpu for: main`. Empty if all are set. */
export function missingResources(pod: JsonObject, hardNames: readonly string[]): string {
  const spec = objectAt(pod, 'spec')
  const podLevel = objectAt(spec, 'resources')
  const lines = hardNames.toSorted().flatMap((hardName) => {
    const field = hardName.startsWith('limits.') ? 'limits' : 'requests'
    const name = hardName.replace(/^(?:requests|limits)\./, '')
    if (!compute.includes(name) || objectAt(podLevel, field)[name] !== undefined) return []
    const lacking = [...containers(spec, 'initContainers'), ...containers(spec, 'containers')]
      .filter((container) => objectAt(objectAt(container, 'resources'), field)[name] === undefined)
      .map((container) => stringAt(container, 'name') ?? '')
    return lacking.length === 0 ? [] : [`${hardName} for: ${lacking.toSorted().join(',')}`]
  })
  return lines.join('; ')
}

/** Whether no container has requests or limits of CPU or memory. */
export function isBestEffort(pod: JsonObject): boolean {
  const spec = objectAt(pod, 'spec')
  const all = [spec, ...containers(spec, 'initContainers'), ...containers(spec, 'containers')]
  return !all.some((holder) =>
    ['requests', 'limits'].some((field) => {
      const list = objectAt(objectAt(holder, 'resources'), field)
      return ['cpu', 'memory'].some((name) => list[name] !== undefined && String(list[name]) !== '0')
    }),
  )
}

/**
 * What a pod requests, or is limited to. Containers run together; init containers run before them, one after the other, beside those that keep running
 * (sidecars).
 */
export function podResources(pod: JsonObject, field: 'requests' | 'limits'): Amounts {
  const spec = objectAt(pod, 'spec')
  let running: Amounts = new Map()
  let starting: Amounts = new Map()
  for (const container of containers(spec, 'initContainers')) {
    const own = readAmounts(objectAt(objectAt(container, 'resources'), field))
    if (container.restartPolicy === 'Always') {
      running = add(running, own)
      starting = maximum(starting, running)
    } else starting = maximum(starting, add(running, own))
  }
  for (const container of containers(spec, 'containers')) {
    running = add(running, readAmounts(objectAt(objectAt(container, 'resources'), field)))
  }
  const total = maximum(running, starting)
  const podLevel = readAmounts(objectAt(objectAt(spec, 'resources'), field))
  return add(new Map([...total, ...podLevel]), readAmounts(objectAt(spec, 'overhead')))
}

function hasEnded(pod: JsonObject, nowMs: number): boolean {
  const phase = stringAt(objectAt(pod, 'status'), 'phase')
  if (phase === 'Failed' || phase === 'Succeeded') return true
  const { deletionTimestamp } = objectAt(pod, 'metadata')
  // The timestamp is the end of the grace period.
  return typeof deletionTimestamp === 'string' && nowMs > Date.parse(deletionTimestamp)
}

function containers(spec: JsonObject, field: string): readonly JsonObject[] {
  return arrayAt(spec, field).filter((container) => isJsonObject(container))
}
