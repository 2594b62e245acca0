/** Columns of volumes, claims and classes. */
import { type JsonObject, objectAt } from '../json.ts'
import {
  ageColumn,
  booleanCell,
  type Column,
  column,
  countCell,
  integerColumn,
  nameColumn,
  objectsAt,
  textCell,
  valueAt,
  wide,
} from './column.ts'

const modeNames: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

function accessModes(path: string): Column['cell'] {
  return (object) => {
    const modes = valueAt(object, path)
    const wanted = new Set(Array.isArray(modes) ? modes.map(String) : [])
    return Object.keys(modeNames)
      .filter((mode) => wanted.has(mode))
      .map((mode) => modeNames[mode])
      .join(',')
  }
}

function phase(object: JsonObject): string {
  if (objectAt(object, 'metadata').deletionTimestamp !== undefined) return 'Terminating'
  return String(valueAt(object, 'status.phase') ?? '')
}

/** Columns of PersistentVolumes. */
export const volumeColumns: readonly Column[] = [
  nameColumn,
  column('Capacity', textCell('spec.capacity.storage')),
  column('Access Modes', accessModes('spec.accessModes')),
  column('Reclaim Policy', textCell('spec.persistentVolumeReclaimPolicy')),
  column('Status', phase),
  column('Claim', (object) => {
    const claim = objectAt(objectAt(object, 'spec'), 'claimRef')
    return claim.name === undefined ? '' : `${String(claim.namespace)}/${String(claim.name)}`
  }),
  column('StorageClass', textCell('spec.storageClassName')),
  column('VolumeAttributesClass', textCell('spec.volumeAttributesClassName', '<unset>')),
  column('Reason', textCell('status.reason')),
  ageColumn,
  wide('VolumeMode', textCell('spec.volumeMode', '<unset>')),
]

/** Columns of PersistentVolumeClaims. */
export const claimColumns: readonly Column[] = [
  nameColumn,
  column('Status', phase),
  column('Volume', textCell('spec.volumeName')),
  column('Capacity', (object) =>
    valueAt(object, 'spec.volumeName') ? textCell('status.capacity.storage')(object, 0) : '',
  ),
  column('Access Modes', (object) =>
    valueAt(object, 'spec.volumeName') ? accessModes('status.accessModes')(object, 0) : '',
  ),
  column('StorageClass', textCell('spec.storageClassName')),
  column('VolumeAttributesClass', textCell('spec.volumeAttributesClassName', '<unset>')),
  ageColumn,
  wide('VolumeMode', textCell('spec.volumeMode', '<unset>')),
]

/** Columns of StorageClasses. */
export const storageClassColumns: readonly Column[] = [
  column(
    'Name',
    (object) => {
      const { name, annotations } = objectAt(object, 'metadata')
      const isDefault =
        typeof annotations === 'object' &&
        annotations !== null &&
        !Array.isArray(annotations) &&
        annotations['storageclass.kubernetes.io/is-default-class'] === 'true'
      return isDefault ? `${String(name)} (default)` : String(name)
    },
    { format: 'name' },
  ),
  column('Provisioner', textCell('provisioner')),
  column('ReclaimPolicy', textCell('reclaimPolicy', 'Delete')),
  column('VolumeBindingMode', textCell('volumeBindingMode', 'Immediate')),
  column('AllowVolumeExpansion', booleanCell('allowVolumeExpansion')),
  ageColumn,
]

/** Columns of CSIDrivers. */
export const csiDriverColumns: readonly Column[] = [
  nameColumn,
  column('AttachRequired', booleanCell('spec.attachRequired'), { type: 'boolean' }),
  column('PodInfoOnMount', booleanCell('spec.podInfoOnMount'), { type: 'boolean' }),
  column('StorageCapacity', booleanCell('spec.storageCapacity'), { type: 'boolean' }),
  column('TokenRequests', (object) => {
    const audiences = objectsAt(object, 'spec.tokenRequests').map((request) => String(request.audience ?? ''))
    return audiences.length === 0 ? '<unset>' : audiences.join(',')
  }),
  column('RequiresRepublish', booleanCell('spec.requiresRepublish'), { type: 'boolean' }),
  column('Modes', (object) => {
    const modes = valueAt(object, 'spec.volumeLifecycleModes')
    return Array.isArray(modes) && modes.length > 0 ? modes.map(String).join(',') : '<none>'
  }),
  ageColumn,
]

/** Columns of CSINodes. */
export const csiNodeColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Drivers', countCell('spec.drivers')),
  ageColumn,
]
