/** PersistentVolumes, claims, storage classes and CSI drivers. */

import { parseQuantity } from '../../api/quantity.ts'
import { arrayAt, isJsonObject, type JsonObject, jsonEqual, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { validateAccessModes, validateClaimSpec, validateClaimUpdate, volumeModes } from './claims.ts'
import { IMMUTABLE, nameProblems, qualifiedNameProblems } from './formats.ts'
import { Problems, textAt, textsAt } from './problems.ts'
import { validateNodeSelector } from './scheduling.ts'
import { validateDriverName, validateHostPath, validateNfs, validateSources } from './volumes.ts'

/** Validates a PersistentVolumeClaim. */
export function validateClaim(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  validateClaimSpec(problems, objectAt(object, 'spec'), 'spec')
  if (old !== undefined) validateClaimUpdate(problems, object, old)
  return problems.errors
}

const otherSources = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
]

const volumeSources = {
  hostPath: validateHostPath,
  nfs: validateNfs,
  ...Object.fromEntries(otherSources.map((field) => [field, () => undefined])),
  csi: (problems: Problems, source: JsonObject, at: string) => {
    validateDriverName(problems, textAt(source, 'driver'), `${at}.driver`)
    if (textAt(source, 'volumeHandle') === '') problems.required(`${at}.volumeHandle`)
  },
}

/** Validates a PersistentVolume. */
export function validateVolume(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const modes = textsAt(spec, 'accessModes')
  if (modes.length === 0) problems.required('spec.accessModes')
  validateAccessModes(problems, modes, 'spec.accessModes')
  validateCapacity(problems, spec)
  problems.oneOf('spec.persistentVolumeReclaimPolicy', spec.persistentVolumeReclaimPolicy, [
    'Delete',
    'Recycle',
    'Retain',
  ])
  problems.oneOf('spec.volumeMode', spec.volumeMode, volumeModes)
  const isPlaced = isJsonObject(objectAt(spec, 'nodeAffinity').required)
  if (isPlaced)
    validateNodeSelector(problems, objectAt(objectAt(spec, 'nodeAffinity'), 'required'), 'spec.nodeAffinity.required')
  const count = validateSources(problems, spec, 'spec', volumeSources)
  if (count === 0) problems.required('spec', 'must specify a volume type')
  if (isJsonObject(spec.local) && !isPlaced)
    problems.required('spec.nodeAffinity', 'Local volume requires node affinity')
  const className = textAt(spec, 'storageClassName')
  if (className !== '') problems.invalidAll('spec.storageClassName', className, nameProblems(className))
  if (old !== undefined) validateVolumeUpdate(problems, spec, objectAt(old, 'spec'))
  return problems.errors
}

function validateCapacity(problems: Problems, spec: JsonObject): void {
  const capacity = objectAt(spec, 'capacity')
  const names = Object.keys(capacity)
  if (names.length === 0) problems.required('spec.capacity')
  if (names.length !== 1 || names[0] !== 'storage') {
    const message = `Unsupported value: ${JSON.stringify(spec.capacity ?? null)}: supported values: "storage"`
    problems.errors.push({ field: 'spec.capacity', reason: 'FieldValueNotSupported', message })
  }
  for (const [name, value] of Object.entries(capacity)) {
    if (parseQuantity(String(value)).unscaled <= 0n) {
      problems.invalid(`spec.capacity[${name}]`, value, 'must be greater than zero')
    }
  }
}

function validateVolumeUpdate(problems: Problems, spec: JsonObject, before: JsonObject): void {
  const sources = (of: JsonObject) => Object.fromEntries(Object.keys(volumeSources).map((field) => [field, of[field]]))
  if (!jsonEqual(sources(spec), sources(before))) {
    problems.forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation\n')
  }
  if (spec.volumeMode !== before.volumeMode) problems.invalid('volumeMode', spec.volumeMode, IMMUTABLE)
}

/** Validates a StorageClass. */
export function validateStorageClass(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const provisioner = textAt(object, 'provisioner')
  if (provisioner === '') problems.required('provisioner')
  else problems.invalidAll('provisioner', provisioner, qualifiedNameProblems(provisioner.toLowerCase()))
  for (const key of Object.keys(objectAt(object, 'parameters'))) {
    if (key === '') problems.invalid('parameters', key, 'field can not be empty.')
  }
  problems.oneOf('reclaimPolicy', object.reclaimPolicy, ['Delete', 'Retain'])
  problems.oneOf('volumeBindingMode', object.volumeBindingMode, ['Immediate', 'WaitForFirstConsumer'])
  if (old === undefined) return problems.errors
  for (const field of ['parameters', 'provisioner', 'reclaimPolicy']) {
    if (!jsonEqual(object[field], old[field])) problems.forbidden(field, `updates to ${field} are forbidden.`)
  }
  if (object.volumeBindingMode !== old.volumeBindingMode) {
    problems.invalid('volumeBindingMode', object.volumeBindingMode, IMMUTABLE)
  }
  return problems.errors
}

/** Validates a CSIDriver. */
export function validateCsiDriver(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  problems.oneOf('spec.fsGroupPolicy', spec.fsGroupPolicy, ['File', 'None', 'ReadWriteOnceWithFSType'])
  for (const mode of arrayAt(spec, 'volumeLifecycleModes')) {
    problems.oneOf('spec.volumeLifecycleModes', mode, ['Persistent', 'Ephemeral'])
  }
  return problems.errors
}
