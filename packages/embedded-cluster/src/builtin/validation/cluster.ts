/** Namespaces and nodes. */
import { type JsonObject, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { labelValueProblems, qualifiedNameProblems, rangeProblems } from './formats.ts'
import { entriesOf, Problems, textAt, textsAt } from './problems.ts'
import { taintEffects } from './scheduling.ts'

/** Validates a Namespace. */
export function validateNamespace(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  for (const finalizer of textsAt(objectAt(object, 'spec'), 'finalizers')) {
    problems.invalidAll('spec.finalizers', finalizer, qualifiedNameProblems(finalizer))
    if (finalizer.includes('/') || finalizer === 'kubernetes') continue
    const why = 'name is neither a standard finalizer name nor is it fully qualified'
    problems.invalid('spec.finalizers', finalizer, why)
  }
  return problems.errors
}

/** Validates a Node. */
export function validateNode(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  validateTaints(problems, spec)
  for (const [index, range] of textsAt(spec, 'podCIDRs').entries()) {
    problems.invalidAll(`spec.podCIDRs[${index}]`, range, rangeProblems(range))
  }
  if (old === undefined) return problems.errors
  const before = objectAt(old, 'spec')
  const ranges = textsAt(before, 'podCIDRs')
  if (ranges.length > 0 && ranges.join() !== textsAt(spec, 'podCIDRs').join()) {
    problems.forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid')
  }
  const provider = textAt(before, 'providerID')
  if (provider !== '' && provider !== textAt(spec, 'providerID')) {
    problems.forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid')
  }
  return problems.errors
}

/** The messages report the taints of a node under its metadata. */
function validateTaints(problems: Problems, spec: JsonObject): void {
  const seen = new Set<string>()
  for (const [taint, at] of entriesOf(spec, 'taints', 'metadata.taints')) {
    const key = textAt(taint, 'key')
    const value = textAt(taint, 'value')
    const effect = textAt(taint, 'effect')
    problems.invalidAll(`${at}.key`, key, qualifiedNameProblems(key))
    const why = labelValueProblems(value)
    if (why.length > 0) problems.invalid(`${at}.value`, value, why.join(';'))
    if (effect === '') problems.required(`${at}.effect`)
    else problems.oneOf(`${at}.effect`, effect, taintEffects)
    const pair = `${key}/${effect}`
    if (seen.has(pair)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: taint.timeAdded }
      problems.duplicateStruct(at, shown, 'taints must be unique by key and effect pair')
    }
    seen.add(pair)
  }
}
