/** Storage: claims, volumes, classes, drivers and attachments. */

import { ensureObject, setDefaults } from '../draft-fields.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { validateClaimStatus } from './validation/reported-status.ts'
import { validateClaim, validateCsiDriver, validateStorageClass, validateVolume } from './validation/storage.ts'
import { defaultClaimSpec, defaultVolumeSource } from './volume-defaults.ts'

const claimProtection = 'kubernetes.io/pvc-protection'
const volumeProtection = 'kubernetes.io/pv-protection'

/** The strategy of the kind PersistentVolumeClaim. */
export const claimStrategy: KindStrategy = {
  returnsDeletedObject: true,
  validate: validateClaim,
  validateStatus: validateClaimStatus,
  default(object) {
    defaultClaimSpec(ensureObject(object, 'spec'))
  },
  prepareForCreate(object) {
    object.status = { phase: 'Pending' }
    unifySources(ensureObject(object, 'spec'))
    // A claim that a pod uses stays until the pod is deleted.
    addFinalizer(object, claimProtection)
  },
}

/**
 * `dataSource` and `dataSourceRef` are kept consistent. The older one only supports claims and snapshots and drops
 * anything else; the newer one also supports kinds of other groups and namespaces.
 */
function unifySources(spec: JsonObject): void {
  if (isJsonObject(spec.dataSource) && !isKnownSource(spec.dataSource)) delete spec.dataSource
  const { dataSource, dataSourceRef } = spec
  if (isJsonObject(dataSource) && dataSourceRef === undefined) {
    spec.dataSourceRef = { apiGroup: null, ...dataSource }
    spec.dataSource = { apiGroup: null, ...dataSource }
  } else if (isJsonObject(dataSourceRef) && dataSource === undefined && dataSourceRef.namespace === undefined) {
    spec.dataSource = { apiGroup: null, ...dataSourceRef }
  }
}

function isKnownSource({ apiGroup, kind }: JsonObject): boolean {
  if ((apiGroup ?? '') === '') return kind === 'PersistentVolumeClaim'
  return apiGroup === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot'
}

function addFinalizer(object: JsonObject, finalizer: string): void {
  const metadata = ensureObject(object, 'metadata')
  const finalizers = arrayAt(metadata, 'finalizers')
  if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer]
}

/** The strategy of the kind PersistentVolume. */
export const volumeStrategy: KindStrategy = {
  returnsDeletedObject: true,
  validate: validateVolume,
  default(object) {
    const spec = ensureObject(object, 'spec')
    setDefaults(spec, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' })
    defaultVolumeSource(spec)
  },
  prepareForCreate(object, { clock }) {
    const lastPhaseTransitionTime = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`
    object.status = { phase: 'Pending', lastPhaseTransitionTime }
    // A volume with a claim stays until the claim is deleted.
    addFinalizer(object, volumeProtection)
  },
  prepareForDelete(object) {
    if (objectAt(object, 'status').phase === 'Bound') return object
    const metadata = objectAt(object, 'metadata')
    const finalizers = arrayAt(metadata, 'finalizers').filter((finalizer) => finalizer !== volumeProtection)
    return { ...object, metadata: { ...metadata, finalizers } }
  },
}

/** The strategy of the kind StorageClass. */
export const storageClassStrategy: KindStrategy = {
  returnsDeletedObject: true,
  validate: validateStorageClass,
  default(object) {
    setDefaults(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })
  },
}

/** The strategy of the kind CSIDriver. */
export const csiDriverStrategy: KindStrategy = {
  returnsDeletedObject: true,
  validate: validateCsiDriver,
  default(object) {
    setDefaults(ensureObject(object, 'spec'), {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      volumeLifecycleModes: ['Persistent'],
      requiresRepublish: false,
      seLinuxMount: false,
    })
  },
}

/** The strategy of kinds that follow the generic rules but return the object on deletion. */
export const csiNodeStrategy: KindStrategy = { returnsDeletedObject: true }

/** The strategy of the kind VolumeAttachment. */
export const volumeAttachmentStrategy: KindStrategy = { returnsDeletedObject: true }
