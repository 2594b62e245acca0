/** T12: a walk through declared states; how a state was reached must not show in what the operator makes of it. */
import { objectSchema, type StructuralSchema } from '@reeve/crd'
import { isInvalid, type KubeObject } from '@reeve/kube'
import fc from 'fast-check'
import { arbitraryFor, removablePaths, without } from '../arbitrary-for.ts'
import type { PlainObject, Scenario, User } from '../operator-under-test.ts'
import { runScenario } from '../scenario-run.ts'
import { outcomeOf, type Pattern, type PatternContext, type Point, type PointOutcome } from './pattern.ts'

/** States of one walk. */
const WALK_LENGTH = 3

/** Removes every optional part of a full state, then walks between random states. */
export const declaredStates: Pattern = {
  id: 'T12',
  title: 'walk of declared states',
  coverage: 'sampled',
  async points(context) {
    const schema = specSchema(context)
    if (schema === undefined) return []
    const { seed, budget, operator } = context
    const accepts = (spec: unknown): spec is PlainObject => operator.accepts?.(spec as PlainObject) ?? true
    const arbitrary = arbitraryFor(schema).filter(accepts)
    const generated = fc.sample(arbitrary, { seed, numRuns: budget * WALK_LENGTH }) as readonly PlainObject[]
    const fullest = generated.toSorted((a, b) => JSON.stringify(b).length - JSON.stringify(a).length).slice(0, 1)
    const removals = [...(operator.exampleSpecs ?? []), ...fullest].flatMap((full) =>
      removablePaths(schema, full)
        .map((path) => ({ path, rest: without(full, path) }))
        .filter(({ rest }) => accepts(rest))
        .map(({ path, rest }) => pointOf(context, `spec.${path.join('.')} is taken away`, [full, rest as PlainObject])),
    )
    const walks = Array.from({ length: Math.ceil(budget / 2) }, (_, walk) => {
      const states = generated.slice(walk * WALK_LENGTH, (walk + 1) * WALK_LENGTH)
      return pointOf(context, `walk ${walk} through ${states.length} states`, states)
    })
    return [...removals, ...walks]
  },
}

function specSchema({ operator }: PatternContext): StructuralSchema | undefined {
  const [crd] = operator.crds
  return crd && objectSchema(crd, crd.storageVersion).properties?.spec
}

function pointOf(context: PatternContext, label: string, states: readonly PlainObject[]): Point {
  return { label, run: () => walk(context, states) }
}

/** Goes straight to the last state in one world and through all of them in another, and compares. */
async function walk(context: PatternContext, states: readonly PlainObject[]): Promise<PointOutcome> {
  const { operator, seed } = context
  let isRefused = false
  const put = (spec: PlainObject) => async (user: User) => {
    await user.put(declared(context, spec)).catch((error: unknown) => {
      // A rule that the schema cannot say: the state cannot be declared, so it cannot be walked.
      if (!isInvalid(error)) throw error
      isRefused = true
    })
  }
  const steps = states.map((spec, index) => ({
    name: `declare state ${index}: ${JSON.stringify(spec)}`,
    act: put(spec),
  }))
  const scenarioOf = (name: string, part: Scenario['steps']): Scenario => ({ name, steps: part })
  const straight = await runScenario(operator, scenarioOf('straight', steps.slice(-1)), { seed })
  if (isRefused || straight.problems.length > 0) return outcomeOf(straight)
  const { baseline } = straight
  const last = baseline.snapshots[0] ?? new Map()
  const around = await runScenario(operator, scenarioOf('around', steps), {
    seed,
    expected: { ...baseline, snapshots: states.map(() => last), durationsMs: [] },
    onlyLastStep: true,
    extraCreates: states.length,
    extraDeletes: states.length,
  })
  return outcomeOf(around)
}

function declared({ operator }: PatternContext, spec: PlainObject): KubeObject & PlainObject {
  const [crd] = operator.crds
  const namespace = crd?.scope === 'Namespaced' ? { namespace: 'default' } : {}
  const apiVersion = `${crd?.group}/${crd?.storageVersion}`
  return { apiVersion, kind: crd?.kind ?? '', metadata: { name: 'walked', ...namespace }, spec }
}
