/** How do I undo something outside the cluster when a resource is deleted? With a component that finalizes. */
import { deepStrictEqual } from 'node:assert'
import { type Component, defineOperator, withDependencies } from '@reeve/runtime'
import { runInMemory } from '@reeve/testing'
import { type Note, Notes, note, noteManifest } from './support/note.ts'

/** The service outside. Both calls may be repeated: a crash between call and record is always possible. */
class Printer {
  readonly jobs = new Map<string, string>()

  async print(name: string, text: string): Promise<void> {
    this.jobs.set(name, text)
  }

  async cancel(name: string): Promise<void> {
    this.jobs.delete(name)
  }
}

const job: Component<Note, undefined, Printer> = {
  name: 'job',
  async resolve({ primary, dependencies, requireLivePrimary }) {
    // The cache may be old: never start what nobody would cancel.
    await requireLivePrimary()
    await dependencies.print(primary.metadata.name, primary.spec.text)
    return undefined
  },
  // The resource stays until this has succeeded; failures are visible in its condition `Stalled`.
  async finalize({ primary, dependencies }) {
    await dependencies.cancel(primary.metadata.name)
    return undefined
  },
}

const printer = new Printer()
const operator = defineOperator({
  name: 'printing',
  crds: [noteManifest],
  controllers: [{ for: Notes, components: withDependencies(printer, [job]) }],
})

await using world = await runInMemory(operator)
await world.apply(Notes, note('shopping', 'milk'))
await world.settle()
deepStrictEqual([...printer.jobs], [['shopping', 'milk']])
await world.delete(Notes, 'shopping')
await world.settle()
deepStrictEqual([...printer.jobs], [])
