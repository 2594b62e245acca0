/** Fuzzes the manifests that Helm renders and records. */
import { attempt, fuzz, jsonDocument, sameJson, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { manifestChanges } from '../src/driver/manifest-changes.ts'
import { manifestObjects } from '../src/driver/read-manifest.ts'
import { HelmError } from '../src/errors.ts'

const line = fc.constantFrom(
  '---',
  '# Source: web/templates/a.yaml',
  'apiVersion: v1',
  'kind: ConfigMap',
  'kind: List',
  'items:',
  '- apiVersion: v1',
  '  kind: Secret',
  '  metadata: {name: a}',
  'metadata:',
  '  name: a',
  '  name: b',
  'data: {a: "b"}',
  'data: &d',
  '  x: *d',
  '  - y',
  'a: &a [*a, *a]',
)

fuzz('helm-manifest', {
  inputs: fc.oneof(
    { weight: 4, arbitrary: fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n')) },
    { weight: 1, arbitrary: jsonDocument },
  ),
  dictionary: [
    '---\n',
    'apiVersion: v1\n',
    'kind: List\n',
    'metadata:\n  name: a\n',
    '&a ',
    '*a',
    '<<: ',
    '- ',
    '!!set ',
    '{{ x }}',
    '\n',
  ],
  maxBytes: 16 * 1024,
  isJson: true,
  run(input) {
    const manifest = textOf(input)
    if (attempt(() => manifestObjects(manifest), HelmError) === undefined) return
    sameJson('a manifest does not differ from itself', manifestChanges(manifest, manifest), [])
    manifestChanges('', manifest)
  },
})
