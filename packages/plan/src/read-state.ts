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
  /** Only resources in this namespace. @default all */
  readonly namespace?: string
  /** Only resources of this name. @default all */
  readonly name?: string
  readonly signal: AbortSignal
}

/** The objects of the cluster that matter to an operator. */
export interface ReadState {
  readonly objects: readonly Stored<KubeObject>[]
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
  { namespaces = [], namespace, name, signal }: ReadStateOptions,
): Promise<ReadState> {
  const objects = new Map<string, Stored<KubeObject>>()
  const findings: PlanFinding[] = []
  const add = async (resource: Resource, selection: Omit<Source<KubeObject>, 'resource'> = {}) => {
    const { labelSelector, fieldSelector, namespace: within } = selection
    const options = {
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
      ...(within !== undefined && { namespace: within }),
      signal,
    }
    const { items } = await client.listAll(resource, options)
    const found = items.map((item) => typed(resource, item))
    for (const item of found) objects.set(identityOf(item), item)
    return found
  }
  const where = new Set(namespaces)
  for (const { resource } of controllers) {
    try {
      const found = await add(resource, namespace === undefined || !resource.namespaced ? {} : { namespace })
      const wanted = found.filter(({ metadata }) => name === undefined || metadata.name === name)
      for (const { metadata } of wanted) if (metadata.namespace !== undefined) where.add(metadata.namespace)
    } catch (error) {
      if (!isNotFound(error)) throw error
      findings.push({ severity: 'note', message: error.message })
    }
  }
  await addNamespaces(client, where, (object) => objects.set(identityOf(object), object), signal)
  for (const { owns, watches, reads, onDemand } of controllers) {
    for (const { resource } of owns) {
      if (!resource.namespaced) await add(resource)
      // Without the selector: an object that lost its label is still there.
      else for (const within of where) await add(resource, { namespace: within })
    }
    for (const source of [...watches, ...reads]) {
      const { resource, ...selection } = source
      const isNarrow = selection.namespace !== undefined || selection.labelSelector !== undefined
      if (isNarrow || selection.fieldSelector !== undefined || !resource.namespaced) await add(resource, selection)
      else for (const within of where) await add(resource, { namespace: within })
    }
    for (const resource of onDemand) {
      for (const within of where) await add(resource, { namespace: within }).catch(unlessNotServed)
    }
  }
  return { objects: [...objects.values()], findings }
}

function unlessNotServed(error: unknown): readonly never[] {
  if (isNotFound(error) || isForbidden(error)) return []
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
