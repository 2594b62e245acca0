/** Fuzzes the selectors that decide whether an own write belongs in a selective cache. */
import { type FuzzTarget, textOf } from '@reeve/fuzz'
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

export const target: FuzzTarget = {
  description: 'label selectors, field selectors and durations that the runtime evaluates itself',
  inputs: fc.array(requirement, { maxLength: 6 }).map((parts) => parts.join(',')),
  dictionary: ['=', '==', '!=', ' in (', ' notin (', ')', ',', '!', '\\,', '1h', '30s', '500ms', '1.5m'],
  run(input) {
    const text = textOf(input)
    const byLabel = labelMatcher(text)
    const byField = fieldMatcher(text)
    const matches = objects.flatMap((object) => [byLabel(object), byField(object)])
    return `${matches.join()} ${parseDuration(text) === undefined}`
  },
}
