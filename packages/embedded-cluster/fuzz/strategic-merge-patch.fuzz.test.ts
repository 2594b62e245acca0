/** Fuzzes strategic merge patches of a Deployment. */
import { fuzz, jsonOf, jsonValue, sameJson } from '@reeve/fuzz'
import fc from 'fast-check'
import { applyStrategicMergePatch } from '../src/patch/strategic-merge-patch.ts'
import { loadBuiltinSchemas } from '../src/schema/definitions.ts'
import { deploymentSpec } from './support/deployment-input.ts'
import { patchedPair } from './support/parsed-input.ts'

const schema = loadBuiltinSchemas()({ group: 'apps', version: 'v1', kind: 'Deployment' })
const directive = fc.constantFrom<Record<string, unknown>>(
  { $patch: 'delete' },
  { $patch: 'replace' },
  { $patch: 'merge', name: 'web' },
  { $patch: 'x' },
  { $retainKeys: ['replicas'] },
  { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] },
  { '$deleteFromPrimitiveList/finalizers': ['a'] },
)
const patched = fc
  .tuple(deploymentSpec, fc.oneof(fc.constant({}), directive), jsonValue)
  .map(([spec, instruction, other]) => ({
    spec: { ...spec, ...instruction },
    metadata: { labels: other, ...instruction },
  }))

fuzz('strategic-merge-patch', {
  inputs: jsonOf({
    document: deploymentSpec.map((spec) => ({ spec, metadata: { finalizers: ['a', 'b'] } })),
    patch: patched,
  }),
  dictionary: [
    '$patch',
    '$retainKeys',
    '$setElementOrder/containers',
    '$deleteFromPrimitiveList/finalizers',
    'delete',
    'replace',
    'name',
    'containerPort',
  ],
  isJson: true,
  run(input) {
    const result = patchedPair(input, ({ document, patch }) => applyStrategicMergePatch(schema, document, patch))
    if (result === undefined) return
    sameJson('a patched object is JSON', JSON.parse(JSON.stringify(result.patched)), result.patched)
  },
})
