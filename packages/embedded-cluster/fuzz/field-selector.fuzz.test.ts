/** Fuzzes the field selectors of list, watch and delete requests. */
import { attempt, broken, fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { builtinKinds } from '../src/registry/builtin-resources.ts'
import { matchesFields, parseFieldSelector, selectedName } from '../src/rest/field-selector.ts'
import { StatusError } from '../src/status-error.ts'

const kinds = ['Pod', 'Node', 'Event', 'Job', 'ConfigMap']
const resources = builtinKinds().resources.filter(({ kind }) => kinds.includes(kind))
const pod = { metadata: { name: 'web', namespace: 'default' }, spec: { nodeName: 'a' }, status: { phase: 'Running' } }

const field = fc.constantFrom(
  'metadata.name',
  'metadata.namespace',
  'status.phase',
  'spec.nodeName',
  '__proto__',
  'reason',
)
const requirement = fc
  .tuple(field, fc.constantFrom('=', '==', '!=', '=='), fc.constantFrom('web', '', 'a\\,b', '\\', 'x=y'))
  .map((parts) => parts.join(''))

fuzz('field-selector', {
  inputs: fc.array(requirement, { maxLength: 5 }).map((parts) => parts.join(',')),
  dictionary: ['metadata.name', 'status.phase', '=', '==', '!=', ',', '\\'],
  run(input) {
    const selector = textOf(input)
    for (const info of resources) {
      const parsed = attempt(() => parseFieldSelector(selector, info), StatusError)
      if (parsed !== undefined && matchesFields(pod, parsed.value) && (selectedName(selector) ?? 'web') !== 'web') {
        throw broken('a selected name is the name of what matches', selector)
      }
    }
  },
})
