/** CustomResourceDefinitions: validation, serving, updates and deletion. Passes on both clusters. */
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../src/index.ts'
import {
  DEFINITIONS,
  type DefinitionParts,
  definition,
  establish,
  schema,
  uniqueGroup,
  version,
} from './support/definition.ts'
import { eventually } from './support/eventually.ts'

let cluster: ClusterUnderTest
let namespace: string
beforeAll(async () => {
  cluster = await openCluster()
  namespace = await cluster.createNamespace()
})
afterAll(() => cluster.close())

interface Definition {
  readonly metadata: { readonly name: string; readonly finalizers?: string[]; readonly generation: number }
  readonly spec: JsonObject
  readonly status: {
    readonly acceptedNames: JsonObject
    readonly storedVersions: string[]
    readonly conditions:
      | { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[]
      | null
  }
}

const read = async (path: string) => (await cluster.raw.send({ path })).json<Definition>()
const widgets = (group: string, served = 'v1') => `/apis/${group}/${served}/namespaces/${namespace}/widgets`
const widget = (group: string, name: string, more: JsonObject = {}, served = 'v1'): JsonObject => ({
  apiVersion: `${group}/${served}`,
  kind: 'Widget',
  metadata: { name },
  ...more,
})
const post = (path: string, body: JsonObject) => cluster.raw.send({ method: 'POST', path, body })
const put = (path: string, body: unknown) => cluster.raw.send({ method: 'PUT', path, body })
const remove = (path: string) => cluster.raw.send({ method: 'DELETE', path })
const merge = (path: string, body: JsonObject) =>
  cluster.raw.send({ method: 'PATCH', path, body, headers: { 'content-type': 'application/merge-patch+json' } })

const dns1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const webhook = (clientConfig: JsonObject, conversionReviewVersions = ['v1']): DefinitionParts => ({
  spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions } } },
})

describe('a definition is rejected', () => {
  it.each<[string, DefinitionParts, string]>([
    ['without a scope', { spec: { scope: '' } }, 'spec.scope: Required value'],
    [
      'with an unknown scope',
      { spec: { scope: 'Foo' } },
      'spec.scope: Unsupported value: "Foo": supported values: "Cluster", "Namespaced"',
    ],
    [
      'with equal kind and listKind',
      { names: { listKind: 'Widget' } },
      'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same',
    ],
    [
      'with an invalid short name',
      { names: { shortNames: ['ok', 'Bad'] } },
      `spec.names.shortNames[1]: Invalid value: "Bad": ${dns1035}`,
    ],
    [
      'with an invalid category',
      { names: { categories: ['B_ad'] } },
      `spec.names.categories[0]: Invalid value: "B_ad": ${dns1035}`,
    ],
    [
      'without a storage version',
      { version: { storage: false } },
      '[spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version, status.storedVersions: Invalid value: null: must have at least one stored version]',
    ],
    [
      'with a version twice',
      { spec: { versions: [version('v1', { storage: true }), version('v1')] } },
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must contain unique version names',
    ],
    ['without a schema', { version: { schema: {} } }, 'spec.versions[0].schema.openAPIV3Schema: Required value'],
    [
      'with a schema without a type',
      { version: { schema: { openAPIV3Schema: { description: 'x' } } } },
      'spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root',
    ],
    [
      'with a schema that is not an object',
      { version: { schema: { openAPIV3Schema: { type: 'string' } } } },
      'spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root',
    ],
    [
      'with a field without a type',
      { version: { schema: schema({ b: {} }) } },
      'spec.validation.openAPIV3Schema.properties[spec].properties[b].type: Required value: must not be empty for specified object fields',
    ],
    [
      'with a field of an unknown type',
      { version: { schema: schema({ b: { type: 'foo' } }) } },
      'spec.validation.openAPIV3Schema.properties[spec].properties[b].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
    [
      'with a default of another type',
      { version: { schema: schema({ b: { type: 'string', default: 1 } }) } },
      'spec.validation.openAPIV3Schema.properties[spec].properties[b].default: Invalid value: "integer":  in body must be of type string: "integer"',
    ],
    [
      'with a default that would be pruned',
      { version: { schema: schema({ b: { type: 'object', default: { x: 1 } } }) } },
      'spec.validation.openAPIV3Schema.properties[spec].properties[b].default: Invalid value: {"x":1}: must not have unknown fields',
    ],
    [
      'that preserves unknown fields everywhere',
      { spec: { preserveUnknownFields: true } },
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
    [
      'with a deprecation warning for a version that is not deprecated',
      { version: { deprecationWarning: 'x' } },
      'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
    ],
    [
      'with incomplete columns',
      { version: { additionalPrinterColumns: [{ name: '', type: '', jsonPath: '' }] } },
      '[spec.additionalPrinterColumns[0].name: Required value, spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string, spec.additionalPrinterColumns[0].JSONPath: Required value]',
    ],
    [
      'with invalid columns',
      { version: { additionalPrinterColumns: [{ name: 'A', type: 'foo', jsonPath: 'spec.a', format: 'bad' }] } },
      '[spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of boolean,date,integer,number,string, spec.additionalPrinterColumns[0].format: Invalid value: "bad": must be one of byte,date,date-time,double,float,int32,int64,password, spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec.a": must be a simple json path starting with .]',
    ],
    [
      'with scale paths outside the allowed fields',
      {
        version: {
          subresources: {
            scale: { specReplicasPath: 'spec.r', statusReplicasPath: '.spec.r', labelSelectorPath: '.foo.bar' },
          },
        },
      },
      '[spec.subresources.scale.specReplicasPath: Invalid value: "spec.r": must be a simple json path starting with ., spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.r": should be a json path under .status, spec.subresources.scale.labelSelectorPath: Invalid value: ".foo.bar": should be a json path under either .spec or .status]',
    ],
    [
      'with selectable fields that do not exist',
      { version: { selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.zz' }] } },
      'spec.selectableFields[1].jsonPath: Invalid value: ".spec.zz": is an invalid path: does not refer to a valid field',
    ],
    [
      'with an unknown conversion',
      { spec: { conversion: { strategy: 'Foo' } } },
      'spec.conversion.strategy: Unsupported value: "Foo": supported values: "None", "Webhook"',
    ],
    [
      'with webhook settings but no webhook',
      { spec: { conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } } },
      'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
    ],
    [
      'with a conversion webhook without settings',
      { spec: { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } } } },
      'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
    ],
    [
      'with a conversion webhook without TLS',
      webhook({ url: 'http://a/b' }),
      'spec.conversion.webhookClientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
    ],
    [
      'with a conversion webhook with two addresses',
      webhook({ url: 'https://a/b', service: { namespace: 'a', name: 'b' } }),
      'spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required',
    ],
    [
      'with unsupported review versions',
      webhook({ url: 'https://a/b' }, ['v9']),
      'spec.conversion.conversionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1',
    ],
  ])('%s', async (_, parts, message) => {
    const group = uniqueGroup()
    const { status, json } = await post(DEFINITIONS, definition(group, parts))
    expect(json()).toMatchObject({
      reason: 'Invalid',
      message: `CustomResourceDefinition.apiextensions.k8s.io "widgets.${group}" is invalid: ${message}`,
    })
    expect(status).toBe(422)
  })

  it('under a name that is not plural and group', async () => {
    const body = definition(uniqueGroup(), { metadata: { name: 'foo.example.com' } })
    const { json } = await post(DEFINITIONS, body)
    expect(json().message).toContain(
      'metadata.name: Invalid value: "foo.example.com": must be spec.names.plural+"."+spec.group',
    )
  })

  it('in a protected group without approval', async () => {
    const { json } = await post(DEFINITIONS, definition('foo.k8s.io'))
    expect(json().message).toContain('metadata.annotations[api-approved.kubernetes.io]: Required value')
  })

  it('with errors reported by version where versions differ', async () => {
    const versions = [version('v1', { storage: true }), version('v2', { schema: schema({ b: { type: 'foo' } }) })]
    const { json } = await post(DEFINITIONS, definition(uniqueGroup(), { spec: { versions } }))
    expect(json().message).toContain(
      'spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[b].type: Unsupported value',
    )
  })
})

describe('a stored definition', () => {
  it('gets defaults, is accepted and established', async () => {
    const group = uniqueGroup()
    const created = (await post(DEFINITIONS, definition(group, { names: { shortNames: ['wg'] } }))).json<Definition>()
    expect(created.spec).toMatchObject({
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wg'] },
      conversion: { strategy: 'None' },
    })
    expect(created.status).toEqual({
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: ['v1'],
    })
    const path = `${DEFINITIONS}/widgets.${group}`
    await eventually('established', async () =>
      ((await read(path)).status.conditions ?? []).some(
        ({ type, status }) => type === 'Established' && status === 'True',
      ),
    )
    const { status } = await read(path)
    expect(status.acceptedNames).toEqual({
      plural: 'widgets',
      singular: 'widget',
      shortNames: ['wg'],
      kind: 'Widget',
      listKind: 'WidgetList',
    })
    expect(status.conditions?.map(({ type, status: is, reason, message }) => ({ type, is, reason, message }))).toEqual([
      { type: 'NamesAccepted', is: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
      {
        type: 'Established',
        is: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      },
    ])
  })

  it('appears in discovery with its subresources', async () => {
    const group = uniqueGroup()
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
    await establish(cluster, group, {
      names: { shortNames: ['wg'], categories: ['gadgets'] },
      version: { subresources: { status: {}, scale } },
    })
    const { resources } = (await cluster.raw.send({ path: `/apis/${group}/v1` })).json<{ resources: JsonObject[] }>()
    expect(resources).toEqual([
      {
        name: 'widgets',
        singularName: 'widget',
        namespaced: true,
        kind: 'Widget',
        verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
        shortNames: ['wg'],
        categories: ['gadgets'],
        storageVersionHash: expect.any(String),
      },
      { name: 'widgets/status', singularName: '', namespaced: true, kind: 'Widget', verbs: ['get', 'patch', 'update'] },
      {
        name: 'widgets/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      },
    ])
  })

  it('may not change its identity', async () => {
    const path = await establish(cluster, uniqueGroup())
    const crd = await read(path)
    const changed = async (spec: JsonObject) =>
      (await put(path, { ...crd, spec: { ...crd.spec, ...spec } })).json().message
    expect(await changed({ scope: 'Cluster' })).toContain('spec.scope: Invalid value: "Cluster": field is immutable')
    expect(await changed({ group: 'other.example.com' })).toContain('spec.group: Invalid value')
    const names = crd.spec.names as JsonObject
    expect(await changed({ names: { ...names, kind: 'Foo' } })).toContain(
      'spec.names.kind: Invalid value: "Foo": field is immutable',
    )
  })

  it('records every storage version, and keeps it', async () => {
    const group = uniqueGroup()
    const path = await establish(cluster, group, {
      spec: { versions: [version('v1', { storage: true }), version('v2')] },
    })
    const moved = await merge(path, { spec: { versions: [version('v1'), version('v2', { storage: true })] } })
    expect(moved.json<Definition>().status.storedVersions).toEqual(['v1', 'v2'])
    const dropped = await merge(path, { spec: { versions: [version('v2', { storage: true })] } })
    expect(dropped.json().message).toContain(
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version',
    )
  })

  it('serves only its served versions, and warns about deprecated ones', async () => {
    const group = uniqueGroup()
    const versions = [
      version('v1', { storage: true, deprecated: true }),
      version('v2'),
      version('v3', { deprecated: true, deprecationWarning: 'my warning' }),
      version('v4alpha1', { served: false }),
    ]
    await establish(cluster, group, { spec: { versions } })
    const warning = async (served: string) => {
      const { status, headers } = await cluster.raw.send({ path: widgets(group, served) })
      return [status, headers.warning]
    }
    expect(await warning('v1')).toEqual([200, `299 - "${group}/v1 Widget is deprecated; use ${group}/v2 Widget"`])
    expect(await warning('v2')).toEqual([200, undefined])
    expect(await warning('v3')).toEqual([200, '299 - "my warning"'])
    expect((await warning('v4alpha1'))[0]).toBe(404)
  })

  it('waits for its names while another definition has them', async () => {
    const group = uniqueGroup()
    const first = await establish(cluster, group)
    await post(DEFINITIONS, definition(group, { plural: 'gadgets' }))
    const path = `${DEFINITIONS}/gadgets.${group}`
    const conditions = async () =>
      Object.fromEntries(
        ((await read(path)).status.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
      )
    await eventually('a conflict', async () => Object.keys(await conditions()).length === 2)
    expect(await conditions()).toEqual({ NamesAccepted: 'False ListKindConflict', Established: 'False NotAccepted' })
    expect((await cluster.raw.send({ path: `/apis/${group}/v1/gadgets` })).status).toBe(404)
    await remove(first)
    await eventually(
      'the names are available',
      async () => (await conditions()).Established === 'True InitialNamesAccepted',
    )
  })

  it('is deleted after its instances, including those with finalizers', async () => {
    const group = uniqueGroup()
    const path = await establish(cluster, group)
    await post(widgets(group), widget(group, 'a'))
    await post(widgets(group), widget(group, 'b', { metadata: { name: 'b', finalizers: ['example.com/hold'] } }))
    const deleted = (await remove(path)).json<Definition>()
    expect(deleted.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io'])
    expect(deleted.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending' }),
    )
    await eventually(
      'a is deleted',
      async () => (await cluster.raw.send({ path: `${widgets(group)}/a` })).status === 404,
    )
    const rejected = await post(widgets(group), widget(group, 'c'))
    expect(rejected.status).toBe(403)
    expect(rejected.json().message).toBe(
      `widgets.${group} "c" is forbidden: create not allowed while custom resource definition is terminating`,
    )
    await merge(`${widgets(group)}/b`, { metadata: { finalizers: null } })
    await eventually('the definition is deleted', async () => (await cluster.raw.send({ path })).status === 404)
    await eventually(
      'the resource is not served',
      async () => (await cluster.raw.send({ path: `/apis/${group}/v1/widgets` })).status === 404,
    )
  })
})
