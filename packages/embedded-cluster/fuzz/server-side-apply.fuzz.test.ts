/** Fuzzes server-side apply: two managers apply configurations of a Deployment and of a custom resource. */
import { attempt, fuzz, jsonOf, jsonValue, sameJson, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { serverSideApply } from '../src/apply/apply.ts'
import { trackUpdate } from '../src/apply/track.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../src/json.ts'
import { loadBuiltinSchemas } from '../src/schema/definitions.ts'
import type { Schema } from '../src/schema/schema.ts'
import { StatusError } from '../src/status-error.ts'
import { deploymentSpec } from './support/deployment-input.ts'
import { parsedPair } from './support/parsed-input.ts'

const now = Date.UTC(2024, 0, 1)
const deployment = loadBuiltinSchemas()({ group: 'apps', version: 'v1', kind: 'Deployment' })
const widget: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: {
        replicas: { type: 'integer' },
        set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        map: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string' } },
            'x-kubernetes-preserve-unknown-fields': true,
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
        atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
      },
    },
  },
}
const kinds = [
  ['apps/v1', 'Deployment', deployment],
  ['example.com/v1', 'Widget', widget],
  ['example.com/v1', 'Untyped', undefined],
] as const

const spec = fc.oneof(deploymentSpec, jsonValue)

fuzz('server-side-apply', {
  inputs: jsonOf({ document: fc.record({ spec }), patch: fc.record({ spec }) }),
  seeds: [
    '{"document":{"spec":{"set":["a","b"],"map":[{"name":"x","v":1}],"atomic":{"a":"1"}}},"patch":{"spec":{"set":["b"],"map":[{"name":"x","v":2},{"name":"y"}],"replicas":2}}}',
  ],
  dictionary: ['spec', 'containers', 'name', 'set', 'map', 'atomic', 'managedFields', 'f:spec', 'k:{"name":"x"}'],
  isJson: true,
  run(input) {
    const pair = parsedPair(textOf(input))
    if (pair === undefined) return
    for (const [apiVersion, kind, schema] of kinds) bothApply(apiVersion, kind, schema, pair)
  },
})

function bothApply(
  apiVersion: string,
  kind: string,
  schema: Schema | undefined,
  { document, patch }: { readonly document: JsonObject; readonly patch: JsonValue },
): void {
  const complete = (value: JsonValue): JsonObject => {
    const object = isJsonObject(value) ? value : {}
    const metadata = isJsonObject(object.metadata) ? object.metadata : {}
    return { ...object, apiVersion, kind, metadata: { ...metadata, name: 'web' } }
  }
  const apply = (manager: string, applied: JsonObject, live: JsonObject | undefined) =>
    serverSideApply({ schema, apiVersion, live, applied, manager, force: manager === 'second', now })
  const created = attempt(() => apply('first', complete(document), undefined), StatusError)
  if (created === undefined) return
  const changed = attempt(() => apply('second', complete(patch), created.value), StatusError)
  if (changed === undefined) return
  sameJson('a second apply changes nothing', apply('second', complete(patch), changed.value), changed.value)
  trackUpdate({
    schema,
    apiVersion,
    live: created.value,
    updated: changed.value,
    manager: 'third',
    subresource: undefined,
    now,
  })
}
