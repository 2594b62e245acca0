/** The names that are visible to an expression during evaluation. */
import type { ASTNode } from '@marcbachmann/cel-js'
import type { Work } from './functions/cel-function.ts'
import type { CelValue } from './values.ts'

/** The names that an expression can use, innermost first. */
export interface Scope {
  readonly get: (name: string) => CelValue | undefined
}

/** Evaluates parts of an expression with one shared budget. */
export interface Evaluator extends Work {
  run(node: ASTNode, scope: Scope): CelValue
}

/** A scope with one additional name. */
export function bind(scope: Scope, name: string, value: CelValue): Scope {
  return { get: (asked) => (asked === name ? value : scope.get(asked)) }
}
