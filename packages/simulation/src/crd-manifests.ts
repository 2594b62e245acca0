/** CRDs that are given as manifests, for operators that are not written in TypeScript. */
import { type AnyCrd, type CrdManifest, crdManifest, objectSchema, type StructuralSchema } from '@reeve/crd'

/** A CRD whose manifest is all there is. */
interface GivenCrd extends AnyCrd {
  readonly manifest: CrdManifest
}

/**
 * The CRD of a manifest.
 *
 * *Errors*: a manifest without a version that is stored.
 */
export function crdFromManifest(manifest: CrdManifest): AnyCrd {
  const { group, names, scope, versions } = manifest.spec
  const stored = versions.find(({ storage }) => storage)
  if (stored === undefined) throw new TypeError(`the CRD ${manifest.metadata.name} has no version that is stored`)
  const given: GivenCrd = {
    group,
    kind: names.kind,
    plural: names.plural,
    scope: scope === 'Cluster' ? 'Cluster' : 'Namespaced',
    name: `${names.plural}.${group}`,
    storageVersion: stored.name,
    versions: {},
    manifest,
  }
  return given
}

/** The manifest to install. */
export function manifestOf(crd: AnyCrd): CrdManifest {
  return isGiven(crd) ? crd.manifest : crdManifest(crd)
}

/** The schema of the version that is stored. */
export function storedSchema(crd: AnyCrd): StructuralSchema {
  if (!isGiven(crd)) return objectSchema(crd, crd.storageVersion)
  const stored = crd.manifest.spec.versions.find(({ name }) => name === crd.storageVersion)
  // A manifest spells its schema out; the server has checked that it is structural.
  return (stored?.schema?.openAPIV3Schema ?? {}) as StructuralSchema
}

function isGiven(crd: AnyCrd): crd is GivenCrd {
  return 'manifest' in crd
}
