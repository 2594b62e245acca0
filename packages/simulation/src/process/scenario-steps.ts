/** The steps of a scenario file. */
import { isRecord } from '@reeve/http'
import type { Step } from '../operator-under-test.ts'
import { type Fields, ScenarioError } from './scenario-fields.ts'
import type { GivenObject } from './scenario-file.ts'

/** What a user does in a step. */
export type Action =
  /** Creates the objects, or replaces them. */
  | { readonly type: 'apply'; readonly objects: readonly GivenObject[] }
  /** Merges the fields of the objects into those that exist. */
  | { readonly type: 'patch'; readonly objects: readonly GivenObject[] }
  | { readonly type: 'delete'; readonly objects: readonly GivenObject[] }
  | { readonly type: 'scale'; readonly object: GivenObject; readonly replicas: number }
  /** Waits until a condition of the object is true. */
  | { readonly type: 'wait'; readonly object: GivenObject; readonly condition: string }

/** A step of the file. */
export interface FileStep {
  readonly name: string
  readonly action: Action
  readonly goal: Step['goal']
  readonly rest: boolean
}

/** Loads objects that are given in place or in a file. */
export type LoadObjects = (value: unknown, at: string) => Promise<readonly GivenObject[]>

const ACTIONS = ['apply', 'patch', 'delete', 'scale', 'wait'] as const

/** Reads `steps`. */
export async function readSteps(file: Fields, load: LoadObjects): Promise<readonly FileStep[]> {
  const steps = file.objects('steps')
  if (steps.length === 0) throw new ScenarioError('steps is empty: name at least one thing that a user does')
  const read = await Promise.all(steps.map((fields) => readStep(fields, load)))
  const names = new Map<string, number>()
  // Two steps of one name could not be told apart in a report.
  return read.map((step) => {
    const count = (names.get(step.name) ?? 0) + 1
    names.set(step.name, count)
    return count === 1 ? step : { ...step, name: `${step.name} (${count})` }
  })
}

async function readStep(fields: Fields, load: LoadObjects): Promise<FileStep> {
  const name = fields.text('name')
  const goal = fields.text('goal')
  if (goal !== undefined && goal !== 'settled' && goal !== 'unsettled' && goal !== 'any')
    throw new ScenarioError(`${fields.at('goal')} must be settled, unsettled or any, not "${goal}"`)
  const rest = fields.flag('rest') ?? false
  const given = ACTIONS.filter((action) => fields.value(action) !== undefined)
  const [type] = given
  if (type === undefined || given.length > 1)
    throw new ScenarioError(`${fields.at('')} must have one of ${ACTIONS.join(', ')}`.replace('. ', ' '))
  const action = await readAction(type, fields, load)
  fields.end()
  return { name: name ?? titleOf(action), action, goal: goal ?? 'settled', rest }
}

async function readAction(type: (typeof ACTIONS)[number], fields: Fields, load: LoadObjects): Promise<Action> {
  if (type === 'apply' || type === 'patch' || type === 'delete') {
    const objects = await load(fields.value(type), fields.at(type))
    if (objects.length === 0) throw new ScenarioError(`${fields.at(type)} names no object`)
    return { type, objects }
  }
  const given = fields.value(type)
  const at = fields.at(type)
  if (!isRecord(given)) throw new ScenarioError(`${at} must be an object with apiVersion, kind and metadata`)
  const [object] = await load(given, at)
  if (object === undefined) throw new ScenarioError(`${at} names no object`)
  if (type === 'scale') {
    const { replicas } = given
    if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0)
      throw new ScenarioError(`${at}.replicas must be a whole number`)
    return { type, object, replicas }
  }
  const { condition } = given
  if (typeof condition !== 'string') throw new ScenarioError(`${at}.condition must be the type of a condition`)
  return { type, object, condition }
}

function titleOf(action: Action): string {
  const objects = 'objects' in action ? action.objects : [action.object]
  const named = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(', ')
  return action.type === 'scale' ? `scale ${named} to ${action.replicas}` : `${action.type} ${named}`
}
