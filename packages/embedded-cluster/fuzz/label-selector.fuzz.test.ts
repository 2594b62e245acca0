/** Fuzzes the label selectors of list, watch and delete requests. */
import { attempt, broken, filesIn, fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { parseLabelSelector } from '../src/api/label-selector.ts'
import { StatusError } from '../src/status-error.ts'

const key = fc.constantFrom('app', 'example.com/tier', 'constructor', '__proto__', '-bad-')
const value = fc.constantFrom('web', '', '1', '-7', 'a b', 'x'.repeat(64))
const requirement = fc.oneof(
  fc.tuple(key, fc.constantFrom('=', '==', '!=', '>', '<', ' in ', ' notin '), value).map((parts) => parts.join('')),
  fc
    .tuple(key, fc.constantFrom('in', 'notin'), fc.array(value, { maxLength: 4 }))
    .map(([name, operator, values]) => `${name} ${operator} (${values.join(', ')})`),
  key,
  key.map((name) => `!${name}`),
)

const samples = [{}, { app: 'web' }, { app: '5', 'example.com/tier': '' }]

fuzz('label-selector', {
  inputs: fc.array(requirement, { maxLength: 6 }).map((parts) => parts.join(',')),
  dictionary: ['=', '==', '!=', '>', '<', ' in ', ' notin ', '(', ')', ',', '!'],
  seeds: filesIn(new URL('./corpus/label-selector/', import.meta.url)),
  run(input) {
    const selector = textOf(input)
    const parsed = attempt(() => parseLabelSelector(selector), StatusError)
    if (parsed === undefined) return
    const matches = samples.map((labels) => parsed.value(labels))
    const narrower = parseLabelSelector(selector.trim() === '' ? 'app=web' : `${selector},app=web`)
    for (const [index, labels] of samples.entries()) {
      if (narrower(labels) && !matches[index]) throw broken('a further requirement selects no more objects', selector)
    }
  },
})
