/** Schemas of the built-in kinds, read from a server's OpenAPI documents, without descriptions. */
import type { ApiClient } from '@reeve/real-cluster'

/** A schema in OpenAPI v2: references are `#/definitions/<name>`. */
export interface Definition {
  readonly type?: string
  readonly default?: unknown
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Definition>>
  readonly items?: Definition
  readonly additionalProperties?: Definition | boolean
  readonly allOf?: readonly Definition[]
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[]
  readonly [keyword: string]: unknown
}

/** The format of `data/openapi-definitions.json`. */
export type Definitions = Readonly<Record<string, Definition>>

/**
 * Version 2 has the structure and the merge rules; only version 3 has the defaults. They matter for list-map keys (a
 * port without protocol is a TCP port). The empty object, which version 3 has for every struct, is meaningless.
 */
export async function readDefinitions(client: ApiClient): Promise<Definitions> {
  const v2 = await client.json<{ definitions: Definitions }>({ method: 'GET', path: '/openapi/v2' })
  const index = await client.json<{ paths: Record<string, { serverRelativeURL: string }> }>({
    method: 'GET',
    path: '/openapi/v3',
  })
  const v3: Record<string, Definition> = {}
  for (const { serverRelativeURL } of Object.values(index.paths)) {
    const document = await client.json<{ components?: { schemas?: Definitions } }>({
      method: 'GET',
      path: serverRelativeURL,
    })
    Object.assign(v3, document.components?.schemas)
  }
  const names = Object.keys(v2.definitions).sort()
  return Object.fromEntries(names.map((name) => [name, strip(v2.definitions[name] ?? {}, v3[name])]))
}

function strip(schema: Definition, withDefaults: Definition | undefined): Definition {
  const { description: _prose, properties, items, additionalProperties, ...rest } = schema
  const value = withDefaults?.default
  return {
    ...rest,
    ...(value === undefined || isEmptyObject(value) ? {} : { default: value }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, strip(property, withDefaults?.properties?.[name])]),
      ),
    }),
    ...(items && { items: strip(items, withDefaults?.items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'boolean'
          ? additionalProperties
          : strip(additionalProperties, asSchema(withDefaults?.additionalProperties)),
    }),
  }
}

function asSchema(schema: Definition | boolean | undefined): Definition | undefined {
  return typeof schema === 'boolean' ? undefined : schema
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
