/** A CRD as written by its author, from which everything else is derived. */
import { type KubeObject, type Resource, resource } from '@reeve/kube'
import type { Static, TSchema } from 'typebox'
import { CrdError } from './crd-error.ts'
import type { ValidationRule } from './structural-schema.ts'

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** Such as `.spec.replicas`. */
  readonly jsonPath: string
  readonly description?: string
  readonly format?: string
  /** Columns above 0 are only shown by `-o wide`. @default 0 */
  readonly priority?: number
}

/** The fields that `kubectl scale` and autoscalers use. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

/** One version of a CRD. */
export interface VersionDefinition {
  readonly spec: TSchema
  /** Enables the status subresource. */
  readonly status?: TSchema
  /** The description of the kind in `kubectl explain`. */
  readonly description?: string
  /** @default true */
  readonly served?: boolean
  /** Exactly one version is stored. @default true when it is the only one */
  readonly storage?: boolean
  /** The warning for users of this version, or `true` for the default one of Kubernetes. */
  readonly deprecated?: string | true
  readonly columns?: readonly PrinterColumn[]
  readonly scale?: ScalePaths
  /** JSON paths that field selectors may use. */
  readonly selectableFields?: readonly string[]
  /** CEL rules on the whole object. */
  readonly rules?: readonly ValidationRule[]
  /** Whether an object without `spec` is rejected. @default true */
  readonly specRequired?: boolean
}

/** A CRD: names, scope and versions. */
export interface CrdDefinition<V extends Record<string, VersionDefinition> = Record<string, VersionDefinition>> {
  readonly group: string
  readonly kind: string
  readonly plural: string
  /** @default the kind in lower case */
  readonly singular?: string
  /** @default the kind followed by `List` */
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  readonly versions: V
}

/** Versions without members that {@link VersionDefinition} does not have: a typing error must not be ignored. */
export type KnownKeys<V> = {
  readonly [N in keyof V]: { readonly [K in keyof V[N]]: K extends keyof VersionDefinition ? V[N][K] : never }
}

/** The type of an object of a version. */
export type ObjectOf<V extends VersionDefinition> = KubeObject & {
  readonly spec: Static<V['spec']>
  readonly status?: V['status'] extends TSchema ? Static<V['status']> : undefined
}

/** A validated CRD of any versions. */
export interface AnyCrd extends CrdDefinition {
  /** `plural.group`: the name of the CRD object. */
  readonly name: string
  readonly storageVersion: string
}

/** A validated CRD. */
export interface Crd<V extends Record<string, VersionDefinition>> extends AnyCrd {
  readonly versions: V
  /** For typed clients, informers and listers. */
  resource<N extends keyof V & string>(version: N): Resource<ObjectOf<V[N]>>
}

const VERSION_NAME = /^v[1-9][0-9]*((alpha|beta)([1-9][0-9]*)?)?$/

/**
 * Defines a CRD once: its types, schema, manifest and clients are derived from the result.
 *
 * *Errors*: {@link CrdError} `CRD_INVALID_VERSIONS` when no version, or more than one, is stored, or a version's name is
 * not one that Kubernetes can order.
 *
 * @example
 * const WidgetCrd = defineCrd({
 *   group: 'example.com', kind: 'Widget', plural: 'widgets', scope: 'Namespaced',
 *   versions: { v1: { spec: Type.Object({ size: Type.Integer({ default: 1 }) }) } },
 * })
 * const Widgets = WidgetCrd.resource('v1')
 * const widget = await client.get(Widgets, { namespace: 'default', name: 'w' })
 */
export function defineCrd<const V extends Record<string, VersionDefinition>>(
  definition: CrdDefinition<V> & { readonly versions: KnownKeys<V> },
): Crd<V> {
  const names = Object.keys(definition.versions)
  const name = `${definition.plural}.${definition.group}`
  const odd = names.find((version) => !VERSION_NAME.test(version))
  if (odd !== undefined) {
    throw new CrdError('CRD_INVALID_VERSIONS', `${name}: "${odd}" is not a version name; write v1, v1beta2 or v1alpha1`)
  }
  const stored = names.filter((version) => definition.versions[version]?.storage ?? names.length === 1)
  const [storageVersion, ...others] = stored
  if (storageVersion === undefined || others.length > 0) {
    const found = stored.length === 0 ? 'none is' : `${stored.join(', ')} are`
    throw new CrdError('CRD_INVALID_VERSIONS', `${name}: exactly one version must have storage: true, ${found}`)
  }
  return Object.freeze({
    ...definition,
    name,
    storageVersion,
    resource<N extends keyof V & string>(version: N) {
      if (!names.includes(version)) throw unknownVersion(name, version, names)
      const { group, kind, plural, scope } = definition
      return resource<ObjectOf<V[N]>>({ group, version, kind, plural, namespaced: scope === 'Namespaced' })
    },
  })
}

/** The error for a version that a CRD does not define. */
export function unknownVersion(name: string, version: string, known: readonly string[]): CrdError {
  return new CrdError('CRD_UNKNOWN_VERSION', `${name} has no version "${version}"; it has ${known.join(', ')}`)
}
