/** The page of one resource: conditions in time, what it owns, events, reconciles. */
import { Events, isForbidden, type KubeObject, type ObjectKey } from '@reeve/kube'
import { concealer, essence } from '@reeve/plan/differences'
import { stringify } from 'yaml'
import { CONSOLE_LIMITS } from '../limits.ts'
import type { OwnedObject, Reconcile, ResourceDetail, ResourceEvent } from '../wire.ts'
import type { ConsoleModel } from './console-model.ts'
import { conditionsOf, stateOf } from './object-health.ts'
import type { OperatorModel } from './operator-model.ts'
import { type Redact, withoutSecrets } from './secrets.ts'

/** Which resource. */
export interface ResourceAddress {
  readonly operator: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

const conceal = concealer()

/**
 * Reads everything about a resource; `undefined` when it does not exist.
 *
 * @example
 * await resourceDetail(model, { operator: 'webapp-operator', kind: 'WebApp', namespace: 'shop', name: 'web' }, signal)
 */
export async function resourceDetail(
  model: ConsoleModel,
  address: ResourceAddress,
  signal: AbortSignal,
): Promise<ResourceDetail | undefined> {
  const operator = model.operator(address.operator)
  const found = operator?.find(address.kind, keyOf(address))
  if (operator === undefined || found === undefined) return undefined
  const { object, row } = found
  const reconciles = model.journal.list({ resource: row.id, limit: CONSOLE_LIMITS.reconcilesPerResource })
  const redact = operator.redactorOf(object)
  const events = await eventsOf(operator, object, redact, signal)
  const safe = <T>(value: T): T => withoutSecrets(value, redact) as T // the same shape
  const conditions = conditionsOf(object)
  operator.history.observe(row.id, conditions, Date.now())
  return {
    row,
    conditions: safe(conditions),
    history: safe(operator.history.of(row.id)),
    owned: ownedTree(operator, object, { reconciles, redact }),
    ...events,
    reconciles,
    yaml: stringify(safe(shownManifest(object))),
    statusYaml: stringify(safe(statusOf(object))),
  }
}

/** The object as people wrote it: without secrets and what servers keep for themselves. */
function shownManifest(object: KubeObject): unknown {
  const entries = Object.entries(essence(object))
  return Object.fromEntries(entries.map(([name, value]) => [name, conceal(object.kind, name, value)]))
}

function statusOf(object: KubeObject): unknown {
  const { status } = object as { readonly status?: unknown }
  return status ?? {}
}

function keyOf({ namespace, name }: ResourceAddress): ObjectKey {
  return namespace === undefined ? { name } : { namespace, name }
}

function ownedTree(
  operator: OperatorModel,
  owner: KubeObject,
  context: { readonly reconciles: readonly Reconcile[]; readonly redact: Redact },
  depth = 0,
): readonly OwnedObject[] {
  const { uid } = owner.metadata
  const { reconciles, redact } = context
  if (uid === undefined || depth > 3) return []
  return operator
    .ownedBy(uid)
    .map((object) => {
      const { namespace, name = '', creationTimestamp = '' } = object.metadata
      const { health, message } = stateOf(object)
      const lastWriteMs = lastWrite(object, reconciles)
      return {
        kind: object.kind,
        ...(namespace !== undefined && { namespace }),
        name,
        // Objects without a status exist, and that is all that can be said of them.
        health: health === 'unknown' ? ('good' as const) : health,
        message: redact(message),
        createdMs: Date.parse(creationTimestamp) || 0,
        ...(lastWriteMs !== undefined && { lastWriteMs }),
        children: ownedTree(operator, object, context, depth + 1),
      }
    })
    .toSorted((one, other) => `${one.kind} ${one.name}`.localeCompare(`${other.kind} ${other.name}`))
}

function lastWrite({ kind, metadata }: KubeObject, reconciles: readonly Reconcile[]): number | undefined {
  const wrote = reconciles.find(({ writes }) =>
    writes.some(
      (write) =>
        write.kind === kind &&
        write.name === metadata.name &&
        write.namespace === metadata.namespace &&
        write.failure === undefined,
    ),
  )
  return wrote && wrote.startedMs + wrote.durationMs
}

async function eventsOf(
  operator: OperatorModel,
  { metadata }: KubeObject,
  redact: Redact,
  signal: AbortSignal,
): Promise<Pick<ResourceDetail, 'events' | 'eventsProblem'>> {
  const { client } = operator.observed ?? {}
  if (client === undefined) return { events: [] }
  try {
    const { items } = await client.list(Events, {
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      fieldSelector: `involvedObject.uid=${metadata.uid}`,
      signal,
    })
    const events = items.map(
      ({ type = '', reason = '', message = '', count = 1, lastTimestamp, eventTime, series, metadata: own }) =>
        ({
          type,
          reason,
          message: redact(message),
          count: series?.count ?? count,
          lastMs:
            Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? own.creationTimestamp ?? '') || 0,
        }) satisfies ResourceEvent,
    )
    return { events: events.toSorted((one, other) => other.lastMs - one.lastMs).slice(0, CONSOLE_LIMITS.events) }
  } catch (error) {
    signal.throwIfAborted()
    // Most operators may only create events; those they created themselves are known.
    const events = operator.events.of(metadata.uid ?? '')
    if (isForbidden(error)) return { events, eventsProblem: 'only those of the operator, which may not list others' }
    throw error
  }
}
