/** A claim on storage. */
import { atomicGroup, atomicTextList, group, requiredGroup, requiredText, text } from '../fields/fields.ts'
import { labelSelector } from './label-selector.ts'
import { quantities } from './resources.ts'

const source = {
  apiGroup: text('API group of the source; empty for a PersistentVolumeClaim.'),
  kind: requiredText('Kind of the source, such as VolumeSnapshot.'),
  name: requiredText('Name of the source.'),
}

const claim = {
  accessModes: atomicTextList('Such as ReadWriteOnce.'),
  resources: group(
    {
      requests: quantities('How much storage is needed, such as storage: 20Gi.'),
      limits: quantities('How much storage is allowed at most.'),
    },
    'How much storage.',
  ),
  storageClassName: text("The StorageClass; the cluster's default when left out."),
  selector: labelSelector('Which volumes may be bound, by label.'),
  dataSource: atomicGroup(source, 'What the volume is filled from, in the same namespace.'),
  dataSourceRef: group(
    { ...source, namespace: text('Namespace of the source, where the cluster allows another one.') },
    'What the volume is filled from, of any kind.',
  ),
  volumeAttributesClassName: text('The VolumeAttributesClass that tunes the volume.'),
  volumeMode: text('Filesystem (the default) or Block.'),
  volumeName: text('Binds one particular PersistentVolume.'),
}

/** The request of a PersistentVolumeClaim. */
export const persistentVolumeClaim = (description: string) => group(claim, description)

/** The same where it must be given. */
export const requiredPersistentVolumeClaim = (description: string) => requiredGroup(claim, description)
