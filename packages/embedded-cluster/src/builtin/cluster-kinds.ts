/** Namespaces and nodes. */

import { ensureObject } from '../draft-fields.ts'
import { arrayAt, isJsonObject, objectAt, stringAt } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { validateNamespace, validateNode } from './validation/cluster.ts'
import { validateNamespaceStatus, validateNodeStatus } from './validation/reported-status.ts'

/** The strategy of the kind Namespace. */
export const namespaceStrategy: KindStrategy = {
  names: 'label',
  returnsDeletedObject: true,
  validate: validateNamespace,
  validateStatus: validateNamespaceStatus,
  default(object) {
    const metadata = ensureObject(object, 'metadata')
    const name = stringAt(metadata, 'name') ?? ''
    // The label lets selectors select a namespace by its name.
    if (name !== '') ensureObject(metadata, 'labels')['kubernetes.io/metadata.name'] = name
  },
  prepareForCreate(object) {
    const spec = ensureObject(object, 'spec')
    const finalizers = arrayAt(spec, 'finalizers')
    if (!finalizers.includes('kubernetes')) spec.finalizers = [...finalizers, 'kubernetes']
    object.status = { phase: 'Active' }
  },
  prepareForUpdate(object, old) {
    // Only the finalize subresource may remove the finalizer.
    const before = objectAt(old, 'spec').finalizers
    if (before !== undefined) object.spec = { ...objectAt(object, 'spec'), finalizers: before }
  },
}

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

/** The strategy of the kind Node. */
export const nodeStrategy: KindStrategy = {
  keepsStatusOnCreate: true,
  validate: validateNode,
  validateStatus: validateNodeStatus,
  default(object) {
    ensureObject(object, 'status')
    const spec = ensureObject(object, 'spec')
    // The single field is always equal to the first item of the list.
    if (typeof spec.podCIDR === 'string') spec.podCIDRs ??= [spec.podCIDR]
    else if (typeof arrayAt(spec, 'podCIDRs')[0] === 'string') spec.podCIDR = arrayAt(spec, 'podCIDRs')[0]
  },
  defaultStatus(status) {
    if (isJsonObject(status.capacity)) status.allocatable ??= { ...status.capacity }
  },
  prepareForCreate(object) {
    // A new node accepts no pods until a controller removes the taint.
    const spec = ensureObject(object, 'spec')
    const taints = arrayAt(spec, 'taints')
    const isThere = taints.some((taint) => isJsonObject(taint) && taint.key === notReady.key)
    if (!isThere) spec.taints = [...taints, { ...notReady }]
  },
}
