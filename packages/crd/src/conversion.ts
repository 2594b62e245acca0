/** Conversion between the versions of a CRD through its stored version, the hub. */
import type { KubeObject } from '@reeve/kube'
import { CrdError } from './crd-error.ts'
import { type AnyCrd, type Crd, type ObjectOf, unknownVersion, type VersionDefinition } from './definition.ts'

/** The conversion of one version to the hub and back. `metadata` may differ in labels and annotations only. */
export interface Spoke<Version extends KubeObject, Hub extends KubeObject> {
  toHub(object: Version): Hub
  fromHub(object: Hub): Version
}

/** One {@link Spoke} for every version except the stored one. */
export type Spokes<V extends Record<string, VersionDefinition>, H extends keyof V> = {
  readonly [N in Exclude<keyof V & string, H>]: Spoke<ObjectOf<V[N]>, ObjectOf<V[H]>>
}

/** Converts any object of a CRD to any of its versions. */
export type Convert = (object: KubeObject, toVersion: string) => KubeObject

/**
 * Builds the converter of a CRD.
 *
 * *Guarantees*: an object that already has the requested version is returned unchanged; `apiVersion` of the result is
 * always correct, whatever the spoke returned. *Errors*: {@link CrdError} `CRD_UNKNOWN_VERSION`, `CRD_CONVERSION_FAILED` with the
 * object named.
 *
 * @example
 * const convert = defineConversion(WidgetCrd, 'v2', { v1: { toHub, fromHub } })
 * const v1 = convert(widget, 'v1')
 */
export function defineConversion<V extends Record<string, VersionDefinition>, const H extends keyof V & string>(
  crd: Crd<V>,
  hub: H,
  spokes: Spokes<V, H>,
): Convert {
  const known = Object.keys(crd.versions)
  // The mapped type guarantees a spoke per version; by name they share one general shape.
  const byVersion = spokes as unknown as Readonly<Record<string, Spoke<KubeObject, KubeObject> | undefined>>
  const spokeOf = (version: string) => {
    const spoke = byVersion[version]
    if (spoke === undefined) throw unknownVersion(crd.name, version, known)
    return spoke
  }
  return (object, toVersion) => {
    const fromVersion = versionOf(object, crd.group)
    if (!known.includes(fromVersion)) throw unknownVersion(crd.name, fromVersion, known)
    if (!known.includes(toVersion)) throw unknownVersion(crd.name, toVersion, known)
    if (fromVersion === toVersion) return object
    try {
      const asHub = fromVersion === hub ? object : stamp(crd, hub, spokeOf(fromVersion).toHub(object))
      return toVersion === hub ? asHub : stamp(crd, toVersion, spokeOf(toVersion).fromHub(asHub))
    } catch (cause) {
      if (cause instanceof CrdError) throw cause
      const { namespace, name } = object.metadata
      const who = `${crd.kind} ${namespace ? `${namespace}/` : ''}${name ?? ''}`
      throw new CrdError('CRD_CONVERSION_FAILED', `${who} cannot be converted from ${fromVersion} to ${toVersion}`, {
        cause,
      })
    }
  }
}

function stamp(crd: AnyCrd, version: string, object: KubeObject): KubeObject {
  return { ...object, apiVersion: `${crd.group}/${version}`, kind: crd.kind }
}

function versionOf(object: KubeObject, group: string): string {
  const [objectGroup, version] = object.apiVersion.split('/')
  if (objectGroup !== group || version === undefined) {
    throw new CrdError('CRD_UNKNOWN_VERSION', `apiVersion "${object.apiVersion}" is not of the group ${group}`)
  }
  return version
}
