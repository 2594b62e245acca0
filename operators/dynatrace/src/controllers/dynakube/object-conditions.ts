/** Conditions that tell whether the objects of a component are there. */
import { isApiError } from '@reeve/kube'
import { RuntimeError } from '@reeve/runtime'
import type { AnyOutcome } from '@reeve/runtime/components'
import type { DynaKube } from '../../api/latest.ts'
import { kubeApiMessage, REASONS } from './condition-types.ts'
import type { StatusDraft } from './status-draft.ts'

/** A condition for one object. */
export interface ObjectCondition {
  readonly type: string
  /** The object; `undefined` stands for all of the component. */
  readonly name: string | undefined
  readonly reason: string
  /** When it could not be written. @default KubeApiError */
  readonly failureReason?: string
  /** What the message says after the name; absent when somebody else says that all is well. */
  readonly verb?: string
  /** Whether it tells which generation of the DynaKube is applied. @default false */
  readonly tellsGeneration?: boolean
  /** The reason when the object cannot be rendered; without one the condition stays as it is. */
  readonly unrendered?: (failure: Error) => string | undefined
  /** Whether the object runs pods: they are not started while something that they read could not be written. */
  readonly runsPods?: boolean
  /** The reason while the component waits; without it the condition stays as it is. */
  readonly whileWaiting?: string
}

type Extras = Pick<ObjectCondition, 'unrendered' | 'whileWaiting'>

/** `Secret x created`. */
export const created = (
  type: string,
  kind: 'Secret' | 'Service' | 'StatefulSet' | 'DaemonSet',
  name: string,
  extras: Extras = {},
): ObjectCondition => ({
  type,
  name,
  reason: `${kind}Created`,
  verb: 'created',
  runsPods: kind === 'StatefulSet' || kind === 'DaemonSet',
  ...extras,
})

/** `ConfigMap x created/updated`. */
export const configured = (type: string, name: string, extras: Extras = {}): ObjectCondition => ({
  type,
  name,
  reason: 'ConfigMapCreatedOrUpdated',
  verb: 'created/updated',
  ...extras,
})

/** `Secret x created/updated`, for Secrets that are copied. */
export const copied = (type: string, name: string, extras: Extras = {}): ObjectCondition => ({
  type,
  name,
  reason: 'SecretCreatedOrUpdated',
  verb: 'created/updated',
  ...extras,
})

/** The tenant was asked for what the Secret holds, which set the condition. */
export const kept = (type: string, name: string): ObjectCondition => ({ type, name, reason: REASONS.secretCreated })

const SHOWN_NAMES = 3

/** What is looked at of an outcome. */
export type ReportedOutcome = Pick<AnyOutcome<DynaKube>, 'state' | 'stage' | 'failure' | 'waiting' | 'objects'> & {
  readonly name: string
}

/** Tells in conditions what became of the objects of a component. */
export function reportObjects(
  draft: StatusDraft,
  conditions: readonly ObjectCondition[],
  outcome: ReportedOutcome,
): void {
  for (const condition of conditions) reportOne(draft, condition, outcome)
}

function reportOne(draft: StatusDraft, condition: ObjectCondition, outcome: ReportedOutcome): void {
  const { type, reason, failureReason = REASONS.kubeApiError, verb, tellsGeneration = false } = condition
  const { name, state, stage, failure, waiting, objects } = outcome
  if (state === 'disabled') {
    draft.remove(type)
    return
  }
  if (waiting !== undefined) {
    // What waits keeps what it says, unless users are to be told.
    if (condition.whileWaiting) draft.set(type, 'False', condition.whileWaiting, `${name} waits for ${waiting.what}`)
    return
  }
  if (failure !== undefined && stage !== 'apply') {
    const unrendered = condition.unrendered?.(failure)
    if (unrendered !== undefined) draft.set(type, 'False', unrendered, failure.message)
    else if (stage === 'needs' && condition.runsPods && isOfCluster(failure)) {
      draft.set(type, 'False', failureReason, kubeApiMessage(failure))
    }
    return
  }
  const concerned = objects.filter(
    ({ desired }) => condition.name === undefined || desired.object.metadata.name === condition.name,
  )
  const isWritten = concerned.every((object) => object.state === 'current' || object.state === 'pending')
  // Objects of different kinds may share a name.
  const names = [...new Set(concerned.map(({ desired }) => desired.object.metadata.name ?? ''))]
  const { generation } = draft.dynakube.metadata
  if (!isWritten && failure !== undefined) draft.set(type, 'False', failureReason, kubeApiMessage(failure))
  else if (verb === undefined) return
  else if (names.length === 0) draft.remove(type)
  else draft.set(type, 'True', reason, `${shown(names)} ${verb}`, tellsGeneration ? generation : undefined)
}

/** The engine's own errors are about objects in the cluster, too. */
const isOfCluster = (failure: Error): boolean => isApiError(failure) || failure instanceof RuntimeError

function shown(names: readonly string[]): string {
  const more = names.length - SHOWN_NAMES
  return `${names.slice(0, SHOWN_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
