/** Fuzzes the selectors that decide whether an own write belongs in a selective cache. */
import { fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { fieldMatcher, labelMatcher } from '../src/cache/selector.ts'
import { parseDuration } from '../src/webhooks/request-body.ts'

const objects = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', labels: { app: 'web', tier: '' } },
    spec: { nodeName: 'a' },
  },
  { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'bare' } },
]
const requirement = fc.constantFrom(
  'app=web',
  'app==web',
  'tier!=db',
  'env in (dev, test)',
  'env notin ()',
  '!legacy',
  'owner',
  'metadata.name=web',
  'spec.nodeName!=a\\,b',
  '',
  ' , ',
)

fuzz('cache-selector', {
  inputs: fc.array(requirement, { maxLength: 6 }).map((parts) => parts.join(',')),
  dictionary: ['=', '==', '!=', ' in (', ' notin (', ')', ',', '!', '\\,', '1h', '30s', '500ms', '1.5m'],
  run(input) {
    const text = textOf(input)
    const byLabel = labelMatcher(text)
    const byField = fieldMatcher(text)
    for (const object of objects) {
      byLabel(object)
      byField(object)
    }
    parseDuration(text)
  },
})
