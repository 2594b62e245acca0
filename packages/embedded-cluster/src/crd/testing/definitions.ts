/** Builds CustomResourceDefinitions for tests. */
import type { JsonObject } from '../../json.ts'

/** Overrides of a valid definition. */
export interface DefinitionParts {
  readonly plural?: string
  readonly kind?: string
  readonly group?: string
  readonly names?: JsonObject
  readonly spec?: JsonObject
  readonly version?: JsonObject
  readonly metadata?: JsonObject
  readonly status?: JsonObject
}

/** A definition with one version, valid and with defaults unless `parts` overrides them. */
export function definition(parts: DefinitionParts = {}): JsonObject {
  const { plural = 'widgets', kind = 'Widget', group = 'example.com' } = parts
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...parts.metadata },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List`, ...parts.names },
      versions: [version('v1', { storage: true, ...parts.version })],
      conversion: { strategy: 'None' },
      ...parts.spec,
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'], ...parts.status },
  }
}

/** One served version with a small schema. */
export function version(name: string, parts: JsonObject = {}): JsonObject {
  return {
    name,
    served: true,
    storage: false,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
      },
    },
    ...parts,
  }
}
