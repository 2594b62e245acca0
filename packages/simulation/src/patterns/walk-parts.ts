/** What all walks through declared states have in common. */
import type { StructuralSchema } from '@reeve/crd'
import type { PlainObject } from '../operator-under-test.ts'
import type { RemovablePath } from '../schema/changed-values.ts'
import type { PatternContext } from './pattern.ts'
import type { StateWalker } from './state-walker.ts'

/** What a walk needs. */
export interface Parts {
  readonly context: PatternContext
  readonly walker: StateWalker
  readonly schema: StructuralSchema
}

/** Whether the operator takes part in walks with this spec. */
export function accepted({ context: { operator } }: Parts, spec: PlainObject): boolean {
  return operator.accepts?.(spec) ?? true
}

/** Whether the operator declares that a field shows nowhere. */
export function isInert({ operator: { inertFields = [] } }: PatternContext, field: string): boolean {
  return inertFields.some((inert) => field === inert || field.startsWith(`${inert}.`))
}

/** The part of a value at a path. */
export function valueAt(value: unknown, path: RemovablePath): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Readonly<Record<string | number, unknown>>)[name], value)
}

/** `spec.gateway.replicas`. */
export function fieldName(path: RemovablePath): string {
  return ['spec', ...path].join('.')
}
