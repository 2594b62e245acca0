/** The subresources `binding` and `eviction` of pods. */

import { badRequest, conflict, notFound } from '../api/api-errors.ts'
import { matchLabelSelector } from '../api/label-selector.ts'
import { arrayAt, cloneJson, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { StatusError } from '../status-error.ts'
import type { WriteRequest } from './context.ts'
import { requireKind, requireObject } from './decode-object.ts'
import { deleteObject, parseDeleteOptions } from './delete.ts'
import type { ServerContext } from './server-context.ts'
import type { SubresourceCall, SubresourceResult } from './subresources.ts'
import { changeObject } from './update.ts'
import { admitVirtual, trackVirtual } from './virtual-objects.ts'

/** A Status for success. */
export function success(code: number): JsonObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code }
}

/** Assigns a pod to a node, once. */
export async function bind(
  context: ServerContext,
  request: WriteRequest,
  call: SubresourceCall,
): Promise<SubresourceResult> {
  const binding = requireObject((await call.body()).value)
  await bindPod(context, request, binding)
  return { status: 201, object: success(201) }
}

const bindingKind = { group: '', version: 'v1', kind: 'Binding' }

/** Processes a `Binding`, posted in either way; `request` names the pod, `posted` is the object for admission. */
export async function bindPod(
  context: ServerContext,
  request: WriteRequest,
  binding: JsonObject,
  posted: WriteRequest = request,
): Promise<void> {
  requireKind(context.registry, binding, bindingKind)
  requireName(request, binding, 'Binding')
  const target = objectAt(binding, 'target')
  const kind = stringAt(target, 'kind') ?? ''
  if (kind !== '' && kind !== 'Node') {
    const supported = 'supported values: "Node", "<empty>"'
    throw new StatusError(500, '', `target.kind: Unsupported value: ${JSON.stringify(kind)}: ${supported}`)
  }
  const node = stringAt(target, 'name') ?? ''
  if (node === '') throw new StatusError(500, '', 'target.name: Required value')
  const draft = { ...binding, metadata: { ...objectAt(binding, 'metadata'), namespace: request.namespace } }
  await admitVirtual(context, posted, trackVirtual(context, posted, bindingKind, draft))
  await changeObject(context, request, {
    isPatch: true,
    isInternal: true,
    compute: (live) => {
      const { name = '' } = request
      const subject = { group: '', plural: 'pods/binding' }
      const spec = objectAt(live, 'spec')
      const assigned = stringAt(spec, 'nodeName') ?? ''
      if (assigned !== '')
        throw conflict(subject, name, `pod ${name} is already assigned to node ${JSON.stringify(assigned)}`)
      if (objectAt(live, 'metadata').deletionTimestamp !== undefined) {
        throw conflict(subject, name, `pod ${name} is being deleted, cannot be assigned to a host`)
      }
      const draft = cloneJson(live)
      objectAt(draft, 'spec').nodeName = node
      takeMarks(draft, binding)
      draft.status = withScheduled(objectAt(draft, 'status'), new Date(context.clock.now()))
      return { object: draft, tracked: false }
    },
  })
}

/** Copies labels and annotations of the binding to the pod. */
function takeMarks(pod: JsonObject, binding: JsonObject): void {
  const metadata = objectAt(pod, 'metadata')
  for (const field of ['labels', 'annotations']) {
    const marks = objectAt(objectAt(binding, 'metadata'), field)
    if (Object.keys(marks).length > 0) metadata[field] = { ...objectAt(metadata, field), ...marks }
  }
}

function requireName({ name }: WriteRequest, object: JsonObject, kind: string): void {
  if (stringAt(objectAt(object, 'metadata'), 'name') === name) return
  throw badRequest(`name in URL does not match name in ${kind} object`)
}

function withScheduled(status: JsonObject, now: Date): JsonObject {
  const others = arrayAt(status, 'conditions').filter((entry) => isJsonObject(entry) && entry.type !== 'PodScheduled')
  const lastTransitionTime = `${now.toISOString().slice(0, 19)}Z`
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime }
  return { ...status, conditions: [...others, scheduled] }
}

/** Deletes a pod unless a disruption budget forbids it. */
export async function evict(
  context: ServerContext,
  request: WriteRequest,
  call: SubresourceCall,
): Promise<SubresourceResult> {
  const { apiVersion, ...rest } = requireObject((await call.body()).value)
  // Old clients still send a version that is otherwise not served.
  const eviction: JsonObject = {
    ...rest,
    apiVersion: apiVersion === 'policy/v1beta1' ? 'policy/v1' : (apiVersion ?? ''),
  }
  requireKind(context.registry, eviction, { group: 'policy', version: 'v1', kind: 'Eviction' })
  requireName(request, eviction, 'Eviction')
  const { info, name = '', namespace } = request
  const pod = context.store.get('pods', `${namespace}/${name}`)?.object
  if (pod === undefined) throw notFound(info, name)
  await admitVirtual(context, request, eviction)
  const isTerminal = ['Succeeded', 'Failed', 'Pending'].includes(String(objectAt(pod, 'status').phase))
  if (!isTerminal && objectAt(pod, 'metadata').deletionTimestamp === undefined) await spendBudget(context, request, pod)
  const options = isJsonObject(eviction.deleteOptions) ? eviction.deleteOptions : undefined
  await deleteObject(
    context,
    { ...request, subresource: undefined },
    parseDeleteOptions(options, new URLSearchParams()),
  )
  return { status: 201, object: success(201) }
}

async function spendBudget(context: ServerContext, request: WriteRequest, pod: JsonObject): Promise<void> {
  const info = context.registry.stored('poddisruptionbudgets.policy')
  if (info === undefined) return
  const labels = objectAt(objectAt(pod, 'metadata'), 'labels')
  const budgets = [...context.store.range('poddisruptionbudgets.policy', { prefix: `${request.namespace}/` })].filter(
    ({ object }) => {
      const { selector } = objectAt(object, 'spec')
      return isJsonObject(selector) && matchLabelSelector(selector)(labels)
    },
  )
  const [budget, ...others] = budgets
  if (budget === undefined) return
  if (others.length > 0) {
    throw new StatusError(
      500,
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  const name = String(objectAt(budget.object, 'metadata').name)
  await changeObject(
    context,
    { ...request, info, name, subresource: 'status' },
    {
      isPatch: true,
      isInternal: true,
      compute: (live) => {
        const status = objectAt(live, 'status')
        const allowed = typeof status.disruptionsAllowed === 'number' ? status.disruptionsAllowed : 0
        if (allowed <= 0 && !request.dryRun) throw disruptionRefused(name, status)
        const draft = cloneJson(live)
        const disrupted = {
          ...objectAt(status, 'disruptedPods'),
          [request.name ?? '']: new Date(context.clock.now()).toISOString(),
        }
        draft.status = { ...status, disruptionsAllowed: allowed - 1, disruptedPods: disrupted }
        return { object: draft, tracked: false }
      },
    },
  )
}

function disruptionRefused(budget: string, status: JsonObject): StatusError {
  const { desiredHealthy = 0, currentHealthy = 0 } = status
  const why = `The disruption budget ${budget} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  return new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message: why }],
  })
}
