/** CustomResourceDefinitions. */
import type { KubeObject } from '../objects.ts'
import type { Condition } from './condition.ts'
import type { WebhookClientConfig } from './webhook-configuration.ts'

/** An OpenAPI v3 schema in a CRD; not typed further, the `crd` package has the precise type. */
export type JsonSchemaProps = Readonly<Record<string, unknown>>

/** One version of a custom resource. */
export interface CustomResourceDefinitionVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: JsonSchemaProps }
  readonly subresources?: {
    readonly status?: Readonly<Record<string, never>>
    readonly scale?: {
      readonly specReplicasPath: string
      readonly statusReplicasPath: string
      readonly labelSelectorPath?: string
    }
  }
  readonly additionalPrinterColumns?: readonly {
    readonly name: string
    readonly type: string
    readonly jsonPath: string
    readonly description?: string
    readonly format?: string
    readonly priority?: number
  }[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

/** The names of a custom resource. */
export interface CustomResourceDefinitionNames {
  readonly plural: string
  readonly kind: string
  readonly singular?: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** `apiextensions.k8s.io/v1` CustomResourceDefinition. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly names: CustomResourceDefinitionNames
    readonly scope: 'Namespaced' | 'Cluster'
    readonly versions: readonly CustomResourceDefinitionVersion[]
    readonly conversion?: {
      readonly strategy: 'None' | 'Webhook'
      readonly webhook?: {
        readonly clientConfig?: WebhookClientConfig
        readonly conversionReviewVersions: readonly string[]
      }
    }
    readonly preserveUnknownFields?: boolean
  }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly acceptedNames?: CustomResourceDefinitionNames
    readonly storedVersions?: readonly string[]
    readonly observedGeneration?: number
  }
}
