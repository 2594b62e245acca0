/** What users do in a run: the steps of its scenario, and the deletion of everything in the end. */
import { setImmediate } from 'node:timers/promises'
import { type Problem, problem } from '../judge/problem.ts'
import type { OperatorUnderTest, Step } from '../operator-under-test.ts'
import type { World } from '../world/world.ts'

/** Event loop turns that an act may take before time passes: everything happens in this process. */
const TURNS_OF_AN_ACT = 20

/** Stands for the deletion of everything declared by then. */
export const deleteAll: Step = { name: 'delete everything that is declared', act: () => Promise.resolve() }

/** Runs an action of a user. Time passes only when the act waits for it. */
export async function act(world: World, action: (user: World['user']) => Promise<unknown> | undefined): Promise<void> {
  const { clock, user } = world
  let isOver = false
  const acting = Promise.resolve(world.asUser(() => action(user))).finally(() => {
    isOver = true
  })
  // Awaited below; until then a failure must not be unhandled.
  acting.catch(() => undefined)
  for (let turn = 0; turn < TURNS_OF_AN_ACT && !isOver; turn++) await setImmediate()
  await (isOver ? acting : clock.runToCompletion(acting))
}

/** Runs a step; a problem when it fails, as when an object should be deleted and is not. */
export async function perform(world: World, operator: OperatorUnderTest, step: Step): Promise<Problem | undefined> {
  try {
    await act(world, (user) => (step === deleteAll ? deleteDeclared(world, operator) : step.act(user)))
    return undefined
  } catch (error) {
    // What the operator is to blame for is something that the cluster or the outside world rejects.
    const message = error instanceof Error ? error.message : String(error)
    return problem('step-failed', `the step "${step.name}" failed: ${message}`)
  }
}

/** Deletes everything declared that is not being deleted already. */
export async function deleteDeclared(world: World, { crds }: OperatorUnderTest): Promise<void> {
  const { client } = world.user
  for (const { name: resource } of crds) {
    for (const object of world.cluster.api.list(resource)) {
      const { namespace, name, deletionTimestamp } = object.metadata as {
        readonly namespace?: string
        readonly name: string
        readonly deletionTimestamp?: string
      }
      if (deletionTimestamp !== undefined) continue
      const { apiVersion, kind } = object as { readonly apiVersion: string; readonly kind: string }
      const key = { name, ...(namespace !== undefined && { namespace }) }
      await client.delete(await client.resourceFor({ apiVersion, kind }), key)
    }
  }
}
