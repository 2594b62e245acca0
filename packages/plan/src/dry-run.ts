/** Sends planned objects to a cluster as dry runs, which are admitted and defaulted but not stored. */
import {
  ApiError,
  isForbidden,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type ObjectMeta,
  type Resource,
  Services,
  type Stored,
  type WriteOptions,
} from '@reeve/kube'
import { fieldDiff } from './field-diff.ts'
import type { PlanFinding } from './plan.ts'
import { isOf } from './put-manifests.ts'
import { type ObjectsById, titleOf } from './scratch-cluster.ts'
import { essence } from './shown-object.ts'

/** Options of {@link dryRun}. */
export interface DryRunOptions {
  /** The kinds of the plan; objects of others are not sent. */
  readonly kinds: readonly Resource[]
  /** The field manager of the operator. */
  readonly fieldManager: string
  readonly signal: AbortSignal
}

/** What the cluster responded. */
export interface DryRunResult {
  /** The state after, with objects as the cluster would store them. */
  readonly after: ObjectsById
  readonly findings: readonly PlanFinding[]
}

/** Dry runs at a time. */
const BATCH = 8

/**
 * Sends each object that is new or differs, with `dryRun=All`.
 *
 * *Guarantees*: no other write is sent. Where a dry run is not allowed, or a namespace does not exist yet, the object
 * is shown as computed, with a note.
 *
 * @param live the objects of the cluster itself, whose resourceVersions it knows
 * @param before as they were in the scratch cluster
 *
 * @example
 * const { after, findings } = await dryRun(client, { live, before, after }, { kinds, fieldManager, signal })
 */
export async function dryRun(
  client: KubeClient,
  { live, before, after }: Readonly<Record<'live' | 'before' | 'after', ObjectsById>>,
  options: DryRunOptions,
): Promise<DryRunResult> {
  const differing = [...after].filter(([identity, object]) => {
    const old = before.get(identity)
    return old === undefined || isChanged(old, object)
  })
  const answers: (readonly [string, Stored<KubeObject> | PlanFinding])[] = []
  for (let start = 0; start < differing.length; start += BATCH) {
    const batch = differing.slice(start, start + BATCH).map(async ([identity, object]) => {
      return [identity, await send(client, live.get(identity), object, options)] as const
    })
    answers.push(...(await Promise.all(batch)))
  }
  const stored = answers.flatMap(([identity, answer]) => ('severity' in answer ? [] : [[identity, answer] as const]))
  const findings = answers.flatMap(([, answer]) => ('severity' in answer ? [answer] : []))
  const [unchecked, refused] = [findings.filter(isNote), findings.filter((finding) => !isNote(finding))]
  return { after: new Map([...after, ...stored]), findings: [...refused, ...summed(unchecked)] }
}

/** An object that is replaced is another one: the cluster would reject both its change and its creation. */
function isChanged(before: KubeObject, after: KubeObject): boolean {
  return before.metadata.uid === after.metadata.uid && fieldDiff(essence(before), essence(after)).length > 0
}

async function send(
  client: KubeClient,
  live: Stored<KubeObject> | undefined,
  object: Stored<KubeObject>,
  { kinds, fieldManager, signal }: DryRunOptions,
): Promise<Stored<KubeObject> | PlanFinding> {
  const resource = kinds.find((kind) => isOf(kind, object))
  if (resource === undefined) return object
  const options = { dryRun: true, fieldManager, signal }
  try {
    return live === undefined
      ? await create(client, resource, object, options)
      : await client.update(resource, replacement(live, object), options)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ApiError)) throw error
    const { message } = error
    const isUnanswerable = isNotFound(error) || (isForbidden(error) && NOT_ALLOWED.test(message))
    return { severity: isUnanswerable ? 'note' : 'error', object: titleOf(object), message }
  }
}

/** The message of access control; admission has its own messages. */
const NOT_ALLOWED = / cannot (create|update|patch) resource /

async function create(
  client: KubeClient,
  resource: Resource,
  { metadata, ...object }: Stored<KubeObject>,
  options: WriteOptions,
): Promise<Stored<KubeObject>> {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, ...rest } = metadata
  const { managedFields: _owners, generation: _generation, ...given } = rest as ObjectMeta
  const { status: _status, ...content } = object as Omit<KubeObject, 'metadata'> & { readonly status?: unknown }
  return client.create(resource, { ...withoutAddresses(content), metadata: given }, options)
}

/** The addresses of the scratch cluster do not exist in the real one. */
function withoutAddresses<T extends Pick<KubeObject, 'apiVersion' | 'kind'>>(object: T): T {
  if (object.apiVersion !== 'v1' || object.kind !== Services.kind) return object
  const { spec } = object as { readonly spec?: Readonly<Record<string, unknown>> }
  if (spec?.clusterIP === 'None') return object
  const { clusterIP: _ip, clusterIPs: _ips, ...rest } = spec ?? {}
  return { ...object, spec: rest }
}

function replacement(live: Stored<KubeObject>, object: Stored<KubeObject>): KubeObject {
  const { managedFields: _owners, ...metadata } = object.metadata
  return { ...object, metadata: { ...metadata, resourceVersion: live.metadata.resourceVersion } }
}

const isNote = ({ severity }: PlanFinding): boolean => severity === 'note'

/** One sentence for all that could not be checked: they mostly share one reason. */
function summed(notes: readonly PlanFinding[]): readonly PlanFinding[] {
  const [first] = notes
  if (first === undefined) return []
  const others = notes.length === 1 ? '' : ` and ${notes.length - 1} more`
  const message = `the cluster could not validate ${first.object}${others} by a dry run, so the plan is shown as computed: ${first.message}`
  return [{ severity: 'note', message }]
}
