/** Finds wrong expressions in a policy. */

import type { StaticType } from '../../cel/static-type.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../json.ts'
import { invalid } from '../../schema/field-error.ts'
import type { FieldError } from '../../status-error.ts'
import { PolicyExpressions } from './expressions.ts'

/** An expression in a policy. */
interface PlacedExpression {
  readonly path: string
  readonly text: string
}

const fields: readonly { readonly list: string; readonly names: readonly string[] }[] = [
  { list: 'variables', names: ['expression'] },
  { list: 'matchConditions', names: ['expression'] },
  { list: 'validations', names: ['expression', 'messageExpression'] },
  { list: 'auditAnnotations', names: ['valueExpression'] },
]

function expressionsOf(policy: JsonObject): readonly PlacedExpression[] {
  const spec = objectAt(policy, 'spec')
  return fields.flatMap(({ list, names }) =>
    arrayAt(spec, list).flatMap((entry, index) =>
      names.flatMap((name) => {
        const text = isJsonObject(entry) ? (stringAt(entry, name) ?? '') : ''
        return text.trim() === '' ? [] : [{ path: `spec.${list}[${index}].${name}`, text }]
      }),
    ),
  )
}

/** Errors that hold whatever the types of objects are. */
export function expressionErrors(policy: JsonObject): readonly FieldError[] {
  const expressions = new PolicyExpressions()
  return expressionsOf(policy).flatMap(({ path, text }) => {
    // Messages do not depend on what a user may do.
    const problem = expressions.problemOf(text, undefined, path.endsWith('.messageExpression') ? ['authorizer'] : [])
    if (problem !== undefined) return [invalid(path, text, `compilation failed: ${problem}`)]
    const expected = expectedType(path)
    const other = expected === undefined ? undefined : expressions.otherType(text, expected)
    return other === undefined ? [] : [invalid(path, text, `must evaluate to ${expected} but got ${other}`)]
  })
}

function expectedType(path: string): 'bool' | 'string' | undefined {
  if (path.endsWith('.messageExpression')) return 'string'
  return /^spec\.(?:validations|matchConditions)/.test(path) ? 'bool' : undefined
}

/** Warnings of the status: what is wrong if objects have these types, each with the kind it concerns. */
export function typeWarnings(
  policy: JsonObject,
  kinds: readonly { readonly label: string; readonly type: StaticType }[],
): readonly { readonly fieldRef: string; readonly warning: string }[] {
  const expressions = new PolicyExpressions()
  return expressionsOf(policy)
    .filter(({ path }) => path.startsWith('spec.validations') || path.startsWith('spec.matchConditions'))
    .flatMap(({ path, text }) => {
      const problems = kinds.flatMap(({ label, type }) => {
        const types = new Map([
          ['object', type],
          ['oldObject', type],
        ])
        const problem = expressions.problemOf(text, types)
        return problem === undefined ? [] : [`${label}: ${problem}`]
      })
      return problems.length === 0 ? [] : [{ fieldRef: path, warning: problems.join('\n') }]
    })
}
