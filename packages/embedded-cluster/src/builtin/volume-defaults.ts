/** Defaults of pod volumes, and of the sources that PersistentVolumes share with them. */

import { objectsIn, setDefault, setDefaults, withObject } from '../draft-fields.ts'
import type { JsonObject } from '../json.ts'
import { defaultPullPolicy } from './image-pull-policy.ts'

const OCTAL_644 = 0o644

/** Sets defaults in one entry of a pod's `volumes`. */
export function defaultVolume(volume: JsonObject): void {
  const sources = Object.keys(volume).filter((field) => field !== 'name' && volume[field] !== undefined)
  if (sources.length === 0) volume.emptyDir = {}
  for (const field of ['secret', 'configMap', 'projected', 'downwardAPI']) {
    withObject(volume, field, (source) => {
      source.defaultMode ??= OCTAL_644
    })
  }
  withObject(volume, 'downwardAPI', defaultDownward)
  withObject(volume, 'projected', (projected) => {
    for (const source of objectsIn(projected, 'sources')) {
      withObject(source, 'downwardAPI', defaultDownward)
      withObject(source, 'serviceAccountToken', (token) => {
        token.expirationSeconds ??= 3600
      })
    }
  })
  withObject(volume, 'ephemeral', (ephemeral) => {
    withObject(ephemeral, 'volumeClaimTemplate', (template) => withObject(template, 'spec', defaultClaimSpec))
  })
  withObject(volume, 'image', (image) => setDefault(image, 'pullPolicy', defaultPullPolicy(image.reference)))
  defaultVolumeSource(volume)
}

/** Sets defaults in the sources that pod volumes and PersistentVolumes have in common. */
export function defaultVolumeSource(volume: JsonObject): void {
  withObject(volume, 'hostPath', (source) => {
    source.type ??= ''
  })
  withObject(volume, 'iscsi', (source) => setDefault(source, 'iscsiInterface', 'default'))
  withObject(volume, 'rbd', (source) => {
    setDefaults(source, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' })
  })
  withObject(volume, 'scaleIO', (source) => setDefaults(source, { storageMode: 'ThinProvisioned', fsType: 'xfs' }))
  withObject(volume, 'azureDisk', (source) => {
    setDefaults(source, { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' })
  })
}

/** Sets defaults in the spec of a claim or claim template. */
export function defaultClaimSpec(spec: JsonObject): void {
  spec.volumeMode ??= 'Filesystem'
}

function defaultDownward(source: JsonObject): void {
  for (const item of objectsIn(source, 'items')) {
    withObject(item, 'fieldRef', (ref) => setDefault(ref, 'apiVersion', 'v1'))
  }
}
