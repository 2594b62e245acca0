/** Conditions that report whether the objects of a component are applied. */
import { isApiError } from '@reeve/kube'
import { RuntimeError } from '@reeve/runtime'
import type { AnyOutcome } from '@reeve/runtime/components'
import type { DynaKube } from '../../../api/latest.ts'
import type { DynaKubeReporter } from '../dynakube-component.ts'
import { kubeApiMessage, REASONS } from './reasons.ts'

/** A condition for one object. */
export interface ObjectCondition {
  readonly type: string
  /** The name of the object; absent for all objects of the component. */
  readonly nameOf?: (dynakube: DynaKube) => string
  readonly reason: string
  /** The reason when the object cannot be written. @default KubeApiError */
  readonly failureReason?: string
  /** What the message says after the name; absent when `resolve` of the component reports success. */
  readonly verb?: string
  /** Whether it reports which generation of the DynaKube is applied. @default false */
  readonly hasGeneration?: boolean
  /** The reason when the object cannot be rendered; without one the condition is kept. */
  readonly unrendered?: (failure: Error) => string | undefined
  /** Whether the object runs pods: they are not started while something that they read cannot be written. */
  readonly runsPods?: boolean
  /** The reason while the component waits; without it the condition is kept. */
  readonly whileWaiting?: string
}

type Extras = Pick<ObjectCondition, 'unrendered' | 'whileWaiting'>
type NameOf = (dynakube: DynaKube) => string

/** `Secret x created`. */
export const created = (
  type: string,
  kind: 'Secret' | 'Service' | 'StatefulSet' | 'DaemonSet',
  nameOf: NameOf,
  extras: Extras = {},
): ObjectCondition => ({
  type,
  nameOf,
  reason: `${kind}Created`,
  verb: 'created',
  runsPods: kind === 'StatefulSet' || kind === 'DaemonSet',
  ...extras,
})

/** `ConfigMap x created/updated`. */
export const configured = (type: string, nameOf: NameOf, extras: Extras = {}): ObjectCondition => ({
  type,
  nameOf,
  reason: 'ConfigMapCreatedOrUpdated',
  verb: 'created/updated',
  ...extras,
})

/** `Secret x created/updated`, for Secrets that are copied. */
export const copied = (type: string, nameOf: NameOf, extras: Extras = {}): ObjectCondition => ({
  type,
  nameOf,
  reason: 'SecretCreatedOrUpdated',
  verb: 'created/updated',
  ...extras,
})

/** For a Secret whose data `resolve` gets from the tenant: `resolve` reports success. */
export const kept = (type: string, nameOf: NameOf): ObjectCondition => ({ type, nameOf, reason: REASONS.secretCreated })

/** What is read of an outcome. */
export type ReportedOutcome = Pick<
  AnyOutcome<DynaKube>,
  'name' | 'state' | 'stage' | 'failure' | 'waiting' | 'objects' | 'primary'
>

/**
 * The members of a component that report conditions about its objects. The engine removes them when the component is
 * disabled.
 *
 * @param whenDisabled removes what the component has written to the status
 *
 * @example
 * const service: DynaKubeComponent = { name, render, ...objectConditions([created('OTELCService', 'Service', nameOf)]) }
 */
export function objectConditions(
  conditions: readonly ObjectCondition[],
  whenDisabled?: (reporter: DynaKubeReporter) => void,
) {
  return {
    conditions: conditions.map(({ type }) => type),
    report(outcome: ReportedOutcome, reporter: DynaKubeReporter): void {
      if (outcome.state === 'disabled') whenDisabled?.(reporter)
      else for (const condition of conditions) reportOne(condition, outcome, reporter)
    },
  }
}

function reportOne(condition: ObjectCondition, outcome: ReportedOutcome, reporter: DynaKubeReporter): void {
  const { type, reason, failureReason = REASONS.kubeApiError, verb, hasGeneration = false } = condition
  const { name, stage, failure, waiting, objects, primary } = outcome
  const fails = (why: string, message: string) => reporter.setCondition({ type, status: 'False', reason: why, message })
  if (waiting !== undefined) {
    if (condition.whileWaiting) fails(condition.whileWaiting, `${name} is waiting for ${waiting.what}`)
    return
  }
  if (failure !== undefined && stage !== 'apply') {
    const unrendered = condition.unrendered?.(failure)
    if (unrendered !== undefined) fails(unrendered, failure.message)
    else if (stage === 'needs' && condition.runsPods && isOfCluster(failure)) {
      fails(failureReason, kubeApiMessage(failure))
    }
    return
  }
  const wanted = condition.nameOf?.(primary)
  const concerned = objects.filter(({ desired }) => wanted === undefined || desired.object.metadata.name === wanted)
  const isWritten = concerned.every((object) => object.state === 'current' || object.state === 'pending')
  // Objects of different kinds may share a name.
  const names = [...new Set(concerned.map(({ desired }) => desired.object.metadata.name ?? ''))]
  if (!isWritten && failure !== undefined) fails(failureReason, kubeApiMessage(failure))
  else if (verb === undefined) return
  else if (names.length === 0) reporter.removeConditions(type)
  else {
    const { generation } = primary.metadata
    const observed = hasGeneration && generation !== undefined ? { observedGeneration: generation } : {}
    reporter.setCondition({ type, status: 'True', reason, message: `${shown(names)} ${verb}`, ...observed })
  }
}

/** Errors of the engine are about objects in the cluster, too. */
const isOfCluster = (failure: Error): boolean => isApiError(failure) || failure instanceof RuntimeError

const SHOWN_NAMES = 3

function shown(names: readonly string[]): string {
  const more = names.length - SHOWN_NAMES
  return `${names.slice(0, SHOWN_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
