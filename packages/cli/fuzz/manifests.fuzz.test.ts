/** Fuzzes files of manifests, as `validate -f` reads them. */
import { fuzz, jsonDocument, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { parseManifests } from '../src/manifests/manifest-file.ts'
import { objectsIn, titleOf } from '../src/manifests/manifest-object.ts'

const line = fc.constantFrom(
  'apiVersion: v1',
  'kind: Pod',
  'kind: List',
  'items:',
  '- apiVersion: v1',
  '  kind: Pod',
  'metadata: {name: a}',
  'metadata:',
  '  name: &n web',
  '  labels: {a: *n}',
  'spec: *n',
  '---',
  '...',
  '# note',
  '<<: *n',
  '? [a, b]',
  ': c',
  'a: &a [*a]',
  'b: !!set {x, y}',
  'c: !!binary aGk=',
  'd: !<tag:x> y',
  'e: |2-',
  '    text',
  'f: 0o7',
  'g: yes',
  '"h": "\\u00"',
  '%YAML 1.2',
)

fuzz('manifests', {
  inputs: fc.oneof(
    { weight: 4, arbitrary: fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n')) },
    { weight: 1, arbitrary: jsonDocument },
  ),
  dictionary: [
    'apiVersion: v1\n',
    'kind: List\n',
    'items:\n',
    '- ',
    '&a ',
    '*a',
    '<<: ',
    '? ',
    ': ',
    '---\n',
    '...\n',
    '!!set ',
    '!!omap ',
    '|+\n',
    '>2\n',
    '%TAG ! x\n',
    '{',
    '}',
    '[',
    ']',
    '\n  ',
    '\n',
  ],
  maxBytes: 16 * 1024,
  isJson: true,
  run(input) {
    const { documents } = parseManifests('file.yaml', textOf(input))
    for (const entry of objectsIn(documents)) {
      if (!('object' in entry)) continue
      entry.locate('metadata.name')
      entry.locate('spec.containers[0].env[A].value')
      titleOf(entry.object)
    }
  },
})
