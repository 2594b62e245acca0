/** What all walks through declared states have in common. */
import type { StructuralSchema } from '@reeve/crd'
import type fc from 'fast-check'
import type { PlainObject } from '../operator-under-test.ts'
import { arbitraryFor } from '../schema/arbitrary-for.ts'
import type { RemovablePath } from '../schema/changed-values.ts'
import { narrowed } from '../schema/narrowed.ts'
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

/** States at random that the operator takes part in. */
export function specsOf({ context: { operator }, schema }: Parts): fc.Arbitrary<PlainObject> {
  const { complete = (spec: PlainObject) => spec, accepts = () => true, walkedFields } = operator
  const walked = walkedFields === undefined ? schema : narrowed(schema, walkedFields)
  // The schema of a spec is that of an object.
  return (arbitraryFor(walked) as fc.Arbitrary<PlainObject>).map(complete).filter(accepts)
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
