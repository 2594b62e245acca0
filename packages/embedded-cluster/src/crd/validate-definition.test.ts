import { describe, expect, it } from 'vitest'
import { type JsonObject, objectAt } from '../json.ts'
import { type DefinitionParts, definition, version } from './testing/definitions.ts'
import { validateDefinition } from './validate-definition.ts'

function problems(parts: DefinitionParts, old?: DefinitionParts): string[] {
  const errors = validateDefinition(definition(parts), old === undefined ? undefined : definition(old))
  return errors.map(({ field, message }) => `${field}: ${message}`)
}

const dns1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

// The expected messages were recorded from a real API server.
describe('a definition', () => {
  it('is accepted when it is complete', () => {
    expect(problems({})).toEqual([])
  })

  it.each<[string, DefinitionParts, string[]]>([
    [
      'a name that is not plural and group',
      { metadata: { name: 'foo.example.com' } },
      ['metadata.name: Invalid value: "foo.example.com": must be spec.names.plural+"."+spec.group'],
    ],
    [
      'a group of one label',
      { group: 'example' },
      ['spec.group: Invalid value: "example": should be a domain with at least one dot'],
    ],
    [
      'a protected group without approval',
      { group: 'foo.k8s.io' },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    ['no scope', { spec: { scope: '' } }, ['spec.scope: Required value']],
    [
      'an unknown scope',
      { spec: { scope: 'Foo' } },
      ['spec.scope: Unsupported value: "Foo": supported values: "Cluster", "Namespaced"'],
    ],
    [
      'an invalid kind',
      { names: { kind: 'wid get' } },
      [`spec.names.kind: Invalid value: "wid get": may have mixed case, but should otherwise match: ${dns1035}`],
    ],
    [
      'equal kind and listKind',
      { names: { listKind: 'Widget' } },
      ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
    ],
    [
      'an invalid short name',
      { names: { shortNames: ['ok', 'Bad'] } },
      [`spec.names.shortNames[1]: Invalid value: "Bad": ${dns1035}`],
    ],
    [
      'no version',
      { spec: { versions: [] }, status: { storedVersions: [] } },
      [
        'spec.versions: Invalid value: []: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: null: must have at least one stored version',
      ],
    ],
    [
      'two storage versions',
      { spec: { versions: [version('v1', { storage: true }), version('v2', { storage: true })] } },
      [
        'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v2","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
      ],
    ],
    ['no schema', { version: { schema: {} } }, ['spec.versions[0].schema.openAPIV3Schema: Required value']],
    [
      'a schema without a type',
      { version: { schema: { openAPIV3Schema: {} } } },
      ['spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root'],
    ],
    [
      'a schema that is not an object',
      { version: { schema: { openAPIV3Schema: { type: 'string' } } } },
      ['spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root'],
    ],
    [
      'preserveUnknownFields',
      { spec: { preserveUnknownFields: true } },
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [
      'a deprecation warning without deprecation',
      { version: { deprecationWarning: 'x' } },
      ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
    ],
    [
      'an unprintable deprecation warning',
      { version: { deprecated: true, deprecationWarning: 'a\nb' } },
      [
        'spec.versions[0].deprecationWarning: Invalid value: "a\\nb": must only contain printable UTF-8 characters; non-printable character found at index 1',
      ],
    ],
    [
      'empty printer columns',
      { version: { additionalPrinterColumns: [{}] } },
      [
        'spec.additionalPrinterColumns[0].name: Required value',
        'spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].JSONPath: Required value',
      ],
    ],
    [
      'wrong printer columns',
      { version: { additionalPrinterColumns: [{ name: 'A', type: 'foo', jsonPath: 'spec.a', format: 'bad' }] } },
      [
        'spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].format: Invalid value: "bad": must be one of byte,date,date-time,double,float,int32,int64,password',
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec.a": must be a simple json path starting with .',
      ],
    ],
    [
      'an empty scale subresource',
      { version: { subresources: { scale: {} } } },
      [
        'spec.subresources.scale.specReplicasPath: Required value',
        'spec.subresources.scale.statusReplicasPath: Required value',
      ],
    ],
    [
      'scale paths in the wrong places',
      {
        version: {
          subresources: {
            scale: { specReplicasPath: 'spec.r', statusReplicasPath: '.spec.replicas', labelSelectorPath: '.foo.bar' },
          },
        },
      },
      [
        'spec.subresources.scale.specReplicasPath: Invalid value: "spec.r": must be a simple json path starting with .',
        'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.replicas": should be a json path under .status',
        'spec.subresources.scale.labelSelectorPath: Invalid value: ".foo.bar": should be a json path under either .spec or .status',
      ],
    ],
    [
      'wrong selectable fields',
      {
        version: {
          selectableFields: [
            '.spec.a',
            '.spec.zz',
            '.spec',
            'spec.a',
            '.metadata.name',
            '',
            '.spec.a',
            '.spec.a[0]',
          ].map((jsonPath) => ({ jsonPath })),
        },
      },
      [
        'spec.selectableFields[1].jsonPath: Invalid value: ".spec.zz": is an invalid path: does not refer to a valid field',
        'spec.selectableFields[2].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        'spec.selectableFields[3].jsonPath: Invalid value: "spec.a": is an invalid path: expected [ or . but got: spec',
        'spec.selectableFields[4].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field',
        'spec.selectableFields[5].jsonPath: Required value',
        'spec.selectableFields[6].jsonPath: Duplicate value: ".spec.a"',
        'spec.selectableFields[7].jsonPath: Invalid value: ".spec.a[0]": is an invalid path: array notation is not allowed',
      ],
    ],
    [
      'an unknown conversion',
      { spec: { conversion: { strategy: 'Foo' } } },
      ['spec.conversion.strategy: Unsupported value: "Foo": supported values: "None", "Webhook"'],
    ],
    [
      'webhook settings without a webhook',
      { spec: { conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } } },
      ['spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook'],
    ],
    [
      'a webhook without settings',
      { spec: { conversion: { strategy: 'Webhook' } } },
      [
        'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
        'spec.conversion.conversionReviewVersions: Required value',
      ],
    ],
    [
      'a webhook without TLS',
      webhook({ url: 'http://a/b' }),
      [
        'spec.conversion.webhookClientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
      ],
    ],
    [
      'a webhook with two addresses',
      webhook({ url: 'https://a/b', service: { namespace: 'a', name: 'b' } }),
      ['spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      'a webhook service with a wrong port and path',
      webhook({ service: { namespace: 'n', name: 'm', port: 70_000, path: '/a//b' } }),
      [
        'spec.conversion.webhookClientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
        'spec.conversion.webhookClientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty',
      ],
    ],
    [
      'unsupported review versions',
      webhook({ url: 'https://a/b' }, ['v9']),
      ['spec.conversion.conversionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1'],
    ],
  ])('is rejected for %s', (_, parts, expected) => {
    expect(problems(parts)).toEqual(expected)
  })

  it('names the version where versions differ', () => {
    const versions = [version('v1', { storage: true }), version('v2', { additionalPrinterColumns: [{ name: 'A' }] })]
    expect(problems({ spec: { versions } })).toContain(
      'spec.versions[1].additionalPrinterColumns[0].JSONPath: Required value',
    )
  })

  it('may not change its group or plural, or its scope and kind once established', () => {
    const before: DefinitionParts = {
      status: { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] },
    }
    expect(problems({ plural: 'foos' }, {})).toEqual(['spec.names.plural: Invalid value: "foos": field is immutable'])
    expect(problems({ spec: { scope: 'Cluster' } }, before)).toEqual([
      'spec.scope: Invalid value: "Cluster": field is immutable',
    ])
    expect(problems({ spec: { scope: 'Cluster' } }, {})).toEqual([])
    expect(problems({ names: { kind: 'Foo' } }, before)).toEqual([
      'spec.names.kind: Invalid value: "Foo": field is immutable',
    ])
  })

  it('may not drop a version that objects may still be stored in', () => {
    expect(problems({ version: { name: 'v2' }, status: { storedVersions: ['v1', 'v2'] } })).toEqual([
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
    ])
  })

  it('never makes validation throw, whatever its shape', () => {
    for (const broken of [
      {},
      { spec: 1 },
      { spec: { versions: {} } },
      { spec: { names: [], versions: [null, 'x'] } },
    ]) {
      expect(validateDefinition(broken as JsonObject, undefined).length).toBeGreaterThan(0)
      expect(objectAt(broken as JsonObject, 'status')).toEqual({})
    }
  })
})

function webhook(clientConfig: JsonObject, conversionReviewVersions: string[] = ['v1']): DefinitionParts {
  return { spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions } } } }
}
