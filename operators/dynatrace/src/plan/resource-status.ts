/** What the status of resources would say after a plan: versions, and what does not work out. */
import type { KubeObject } from '@reeve/kube'
import type { PlanFinding } from '@reeve/plan'
import { type DynaKube, DynaKubes, type EdgeConnect } from '../api/latest.ts'
import type { Failure, PlannedResource } from './rehearse.ts'
import type { TenantWatch } from './tenant-watch.ts'

/** Versions and images by component, as they would stand in the status. */
export function versionsOf(object: KubeObject | undefined): Readonly<Record<string, string>> {
  if (object === undefined) return {}
  if (object.kind !== DynaKubes.kind) {
    const { status } = object as EdgeConnect // there are two kinds
    return known({ EdgeConnect: status?.version?.imageID })
  }
  const { status } = object as DynaKube // its kind says so
  return known({
    OneAgent: status?.oneAgent?.version,
    'code modules': status?.codeModules?.version,
    ActiveGate: status?.activeGate?.version,
  })
}

function known(versions: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const entries = Object.entries(versions).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return Object.fromEntries(entries)
}

/** Says that the tenant was none. */
export function simulationNote(madeUp: readonly { readonly namespace: string; readonly name: string }[]): PlanFinding {
  const names = madeUp.map(({ namespace, name }) => `${namespace}/${name}`).join(', ')
  const secrets = names === '' ? '' : `; credentials in ${names} are taken for granted`
  return { severity: 'note', message: `the tenant is simulated: versions are examples${secrets}` }
}

/** Reconciles that ended in an error. */
export function failureFindings(failures: readonly Failure[]): readonly PlanFinding[] {
  return failures.map(({ resource, error }) => ({
    severity: 'error',
    object: titleOfResource(resource),
    message: error.message,
  }))
}

/** Tenants that want to be asked later: the operator waits then and says nothing, a plan must. */
export function unavailableFindings({ unavailable }: TenantWatch): readonly PlanFinding[] {
  return [...unavailable].map(([host, status]) => ({
    severity: 'error',
    message: `${host} is unavailable (${status}); the plan is incomplete, try again later`,
  }))
}

/** Conditions that would say no, for resources that did not fail as a whole. */
export function conditionFindings(
  resources: readonly PlannedResource[],
  failures: readonly Failure[],
  statusOf: (resource: PlannedResource) => KubeObject | undefined,
): readonly PlanFinding[] {
  const failed = new Set(failures.map(({ resource }) => resource))
  return resources
    .filter((resource) => !failed.has(resource))
    .flatMap((resource) => {
      const { status } = (statusOf(resource) ?? {}) as Partial<DynaKube> // both kinds have such conditions
      const refused = (status?.conditions ?? []).filter(
        ({ type, status: value }) => value === 'False' && type !== 'Ready',
      )
      return refused.map(({ type, message = '' }): PlanFinding => {
        return { severity: 'note', object: titleOfResource(resource), message: `${type}: ${message}` }
      })
    })
}

const titleOfResource = ({ kind, namespace, name }: PlannedResource): string => `${kind} ${namespace}/${name}`
