/** Reads from a cluster what a plan starts with: lists and gets, nothing else. */
import {
  isForbidden,
  isNotFound,
  type KubeClient,
  type KubeObject,
  Namespaces,
  type Resource,
  type Stored,
} from '@reeve/kube'
import type { Source } from '@reeve/runtime/controller'
import type { DescribedController } from '@reeve/runtime/operator'
import type { PlanFinding } from './plan.ts'
import { identityOf } from './scratch-cluster.ts'

/** What to read. */
export interface ReadStateOptions {
  /** Namespaces of objects in files, which are read as well. @default none */
  readonly namespaces?: readonly string[]
  /** Only these namespaces, and in others only what controllers render there. @default all */
  readonly within?: readonly string[]
  /** Only resources in this namespace. @default all */
  readonly namespace?: string
  /** Only resources of this name. @default all */
  readonly name?: string
  readonly signal: AbortSignal
}

/** The objects of the cluster that matter to an operator. */
export interface ReadState {
  readonly objects: readonly Stored<KubeObject>[]
  /** Kinds of resources, and those on demand, that the cluster does not serve or does not allow to list. */
  readonly unserved: readonly Resource[]
  readonly findings: readonly PlanFinding[]
}

/**
 * Reads resources and what their controllers own, watch and read.
 *
 * *Errors*: the client's. Needs the rights of the operator to `get` and `list`.
 *
 * @example
 * const { objects } = await readState(client, greeter.describe(), { signal })
 */
export async function readState(
  client: KubeClient,
  controllers: readonly DescribedController[],
  { namespaces = [], within, namespace, name, signal }: ReadStateOptions,
): Promise<ReadState> {
  const objects = new Map<string, Stored<KubeObject>>()
  const findings: PlanFinding[] = []
  const unserved: Resource[] = []
  const lists = new Map<string, Promise<readonly Stored<KubeObject>[]>>()
  const list = async (resource: Resource, selection: Selection) => {
    const { items } = await client.listAll(resource, { ...selection, signal })
    const found = items.map((item) => typed(resource, item))
    for (const item of found) objects.set(identityOf(item), item)
    return found
  }
  // Controllers may share what they watch.
  const add = (resource: Resource, selection: Selection = {}) => {
    const { labelSelector = '', fieldSelector = '', namespace: inside = '' } = selection
    const id = [resource.group, resource.plural, labelSelector, fieldSelector, inside].join('\n')
    const found = lists.get(id) ?? list(resource, selection)
    lists.set(id, found)
    return found
  }
  const where = new Set([...namespaces, ...(within ?? [])])
  const scopes = within?.map((one) => ({ namespace: one })) ?? [namespace === undefined ? {} : { namespace }]
  for (const { resource } of controllers) {
    try {
      const found = await Promise.all((resource.namespaced ? scopes : [{}]).map((scope) => add(resource, scope)))
      const wanted = found.flat().filter(({ metadata }) => name === undefined || metadata.name === name)
      for (const { metadata } of wanted) if (metadata.namespace !== undefined) where.add(metadata.namespace)
    } catch (error) {
      if (!isNotFound(error)) throw error
      unserved.push(resource)
      findings.push({ severity: 'note', message: error.message })
    }
  }
  await addNamespaces(client, where, (object) => objects.set(identityOf(object), object), signal)
  const inEach = (resource: Resource, selection: Selection = {}) =>
    Promise.all([...where].map((inside) => add(resource, { ...selection, namespace: inside })))
  for (const { owns, watches, reads, engine } of controllers) {
    const { elsewhere = [], onDemand = [] } = engine ?? {}
    for (const { resource } of owns) {
      if (!resource.namespaced) await add(resource)
      // Without the selector: an object that lost its label is still there.
      else await inEach(resource)
    }
    for (const { resource, ...source } of [...watches, ...reads]) {
      const selection = selectionOf(source)
      const isSelective = selection.labelSelector !== undefined || selection.fieldSelector !== undefined
      const isEverywhere = isSelective && (within === undefined || elsewhere.includes(resource))
      if (selection.namespace !== undefined || !resource.namespaced || isEverywhere) await add(resource, selection)
      else await inEach(resource, selection)
    }
    for (const resource of onDemand) {
      if (!(await inEach(resource).then(isServed, unlessNotServed))) unserved.push(resource)
    }
  }
  return { objects: [...objects.values()], unserved, findings }
}

/** Which objects of a kind to list. */
type Selection = Pick<Source<KubeObject>, 'namespace' | 'labelSelector' | 'fieldSelector'>

function selectionOf({ namespace, labelSelector, fieldSelector }: Selection): Selection {
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  }
}

const isServed = (): boolean => true

function unlessNotServed(error: unknown): boolean {
  if (isNotFound(error) || isForbidden(error)) return false
  throw error
}

async function addNamespaces(
  client: KubeClient,
  names: ReadonlySet<string>,
  add: (object: Stored<KubeObject>) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const name of names) {
    try {
      add(typed(Namespaces, await client.get(Namespaces, { name }, { signal })))
    } catch (error) {
      // A user who may not read the namespace may still plan in it; one that does not exist is reported by the plan.
      if (isForbidden(error)) add({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as Stored<KubeObject>)
      else if (!isNotFound(error)) throw error
    }
  }
}

/** Items of a list need not carry their kind. */
function typed<T extends KubeObject>({ group, version, kind }: Resource<T>, item: Stored<T>): Stored<T> {
  return { ...item, apiVersion: group === '' ? version : `${group}/${version}`, kind }
}
