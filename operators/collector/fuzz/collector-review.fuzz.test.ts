/** Fuzzes Collectors as the webhook sees them, and the values in them. */
import { fuzz, jsonOf, textOf } from '@reeve/fuzz'
import { isRecord } from '@reeve/http'
import fc from 'fast-check'
import type { Collector } from '../src/api/collector.ts'
import { decodeConfiguration, mergeValues } from '../src/decode-configuration.ts'
import { completeCollector, validateCollector } from '../src/validate-collector.ts'

const yaml = fc.constantFrom(
  'replicas: 2',
  'a: &a [*a]',
  'a: &a {b: 1}\nc: *a\n<<: *a',
  '? [x]\n: y',
  '[]',
  'a: .nan',
  'a: !!binary aGk=',
  '---\na: 1\n---\nb: 2',
  'a: b: c',
  '"__proto__": {x: 1}',
  'image: {tag: "1"}',
)
const spec = fc.record(
  {
    cluster: fc.constantFrom('production', 'x'),
    tenant: fc.record({
      reference: fc.constantFrom('shop', 'kube-system', 'A B', ''),
      instance: fc.constantFrom('a', 'x'.repeat(60)),
    }),
    collector: fc.record(
      {
        name: fc.constantFrom('web', '-x', ''),
        version: fc.constantFrom('1.2.3', '^1 || >=2 <3', 'x', ''),
        configuration: yaml.map((text) => Buffer.from(text).toString('base64')),
        chart: fc.constantFrom<unknown>({ type: 'oci', url: 'oci://a/b' }, { type: 'url', url: 'http://a' }, 1),
      },
      { requiredKeys: ['name', 'version', 'configuration'] },
    ),
  },
  { requiredKeys: ['collector'] },
)

fuzz('collector-review', {
  inputs: jsonOf({
    apiVersion: fc.constant('x/v1alpha'),
    kind: fc.constant('Collector'),
    metadata: fc.constant({ name: 'a' }),
    spec,
  }),
  dictionary: [
    'spec',
    'collector',
    'tenant',
    'reference',
    'configuration',
    'version',
    'chart',
    '||',
    '>=',
    ' - ',
    'YTogJmEgWyphXQ==',
    'x.x.x',
  ],
  isJson: true,
  run(input) {
    const values = decodeConfiguration(Buffer.from(input).toString('base64'))
    if (values.values !== undefined) mergeValues(values.values, values.values)
    const value = parsed(textOf(input))
    // The webhook server rejects everything but objects with metadata.
    if (!isRecord(value) || !isRecord(value.metadata)) return
    // Everything else is up to the caller of the webhook.
    const collector = value as unknown as Collector
    validateCollector(completeCollector(collector), { clusters: ['production'] })
  },
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
