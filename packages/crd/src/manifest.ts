/** The CustomResourceDefinition object and its YAML. */
import { ownValue } from '@reeve/http'
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '@reeve/kube'
import { stringify } from 'yaml'
import { type AnyCrd, unknownVersion, type VersionDefinition } from './definition.ts'
import type { StructuralSchema } from './structural-schema.ts'
import { toStructural } from './to-structural.ts'

/** The webhook that the API server calls with ConversionReviews. */
export interface ConversionWebhook {
  readonly service: { readonly namespace: string; readonly name: string; readonly path: string; readonly port?: number }
  /** PEM, Base64-encoded; usually injected later by the certificate controller. */
  readonly caBundle?: string
  /** Versions of ConversionReview that the webhook supports, the preferred one first. @default ['v1'] */
  readonly reviewVersions?: readonly string[]
}

/** Settings of a CRD that the installation decides, not the author. */
export interface ManifestOptions {
  /** Required as soon as versions differ in shape. */
  readonly conversion?: ConversionWebhook
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** A CustomResourceDefinition ready to be applied. */
export interface CrdManifest extends CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
}

/**
 * The structural schema of a whole object in one version.
 *
 * @example
 * const schema = objectSchema(WebAppCrd, 'v1')
 */
export function objectSchema(crd: AnyCrd, version: string): StructuralSchema {
  const definition = ownValue(crd.versions, version)
  if (definition === undefined) throw unknownVersion(crd.name, version, Object.keys(crd.versions))
  const schema: StructuralSchema = {
    type: 'object',
    properties: {
      apiVersion: { type: 'string', description: 'The version of the schema this object is written in.' },
      kind: { type: 'string', description: 'The kind of the object.' },
      metadata: { type: 'object' },
      spec: toStructural(definition.spec, 'spec'),
      ...(definition.status && { status: toStructural(definition.status, 'status') }),
    },
  }
  if (definition.description) schema.description = definition.description
  if (definition.specRequired ?? true) schema.required = ['spec']
  if (definition.rules) schema['x-kubernetes-validations'] = definition.rules
  return schema
}

/**
 * The CustomResourceDefinition to apply to a cluster.
 *
 * @example
 * await client.apply(CustomResourceDefinitions, crdManifest(WebAppCrd))
 */
export function crdManifest(crd: AnyCrd, options: ManifestOptions = {}): CrdManifest {
  const { conversion, labels, annotations } = options
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: crd.name, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: {
      group: crd.group,
      names: {
        kind: crd.kind,
        listKind: crd.listKind ?? `${crd.kind}List`,
        plural: crd.plural,
        singular: crd.singular ?? crd.kind.toLowerCase(),
        ...(crd.shortNames && { shortNames: crd.shortNames }),
        ...(crd.categories && { categories: crd.categories }),
      },
      scope: crd.scope,
      ...(conversion && { conversion: conversionSpec(conversion) }),
      versions: Object.entries(crd.versions).map(([name, version]) => versionSpec(crd, name, version)),
    },
  }
}

/**
 * The manifest as YAML, for files.
 *
 * @example
 * await writeFile('crd.yaml', crdYaml(WebAppCrd))
 */
export function crdYaml(crd: AnyCrd, options: ManifestOptions = {}): string {
  return stringify(crdManifest(crd, options), { lineWidth: 110, aliasDuplicateObjects: false })
}

function conversionSpec({
  service,
  caBundle,
  reviewVersions = ['v1'],
}: ConversionWebhook): NonNullable<CustomResourceDefinition['spec']['conversion']> {
  return {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: reviewVersions, clientConfig: { service, ...(caBundle && { caBundle }) } },
  }
}

function versionSpec(crd: AnyCrd, name: string, version: VersionDefinition): CustomResourceDefinitionVersion {
  const { deprecated, columns, scale, selectableFields } = version
  return {
    name,
    served: version.served ?? true,
    storage: name === crd.storageVersion,
    ...(deprecated && { deprecated: true, ...(deprecated !== true && { deprecationWarning: deprecated }) }),
    schema: { openAPIV3Schema: { ...objectSchema(crd, name) } },
    ...((version.status || scale) && {
      subresources: { ...(version.status && { status: {} }), ...(scale && { scale }) },
    }),
    ...(selectableFields && { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
    ...(columns && { additionalPrinterColumns: columns }),
  }
}
