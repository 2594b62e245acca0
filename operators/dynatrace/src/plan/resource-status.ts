/** What the planned status of resources says: versions, and conditions that are false. */
import type { KubeObject } from '@reeve/kube'
import { type PlanFinding, titleOf } from '@reeve/plan'
import { type DynaKube, DynaKubes, type EdgeConnect } from '../api/latest.ts'
import type { TenantWatch } from './tenant-watch.ts'

/** Versions and images by component, as they would stand in the status. */
export function versionsOf(object: KubeObject): Readonly<Record<string, string>> {
  if (object.kind !== DynaKubes.kind) {
    const { status } = object as EdgeConnect // there are two kinds
    return known({ EdgeConnect: status?.version?.imageID })
  }
  const { status } = object as DynaKube // by its kind
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

/** Says that tenants are simulated. */
export function simulationNote(madeUp: readonly KubeObject[]): PlanFinding {
  const names = madeUp.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`).join(', ')
  const secrets = names === '' ? '' : `; credentials in ${names} are taken for granted`
  return { severity: 'note', message: `the tenant is simulated: versions are examples${secrets}` }
}

/** Tenants that are unavailable: the operator waits then and reports nothing, a plan must. */
export function unavailableFindings({ unavailable }: TenantWatch): readonly PlanFinding[] {
  return [...unavailable].map(([host, status]) => ({
    severity: 'error',
    message: `${host} is unavailable (${status}); the plan is incomplete, try again later`,
  }))
}

/** Conditions of a resource that would be false, apart from the one that sums up all others. */
export function conditionFindings(object: KubeObject): readonly PlanFinding[] {
  const { status } = object as Partial<DynaKube> // both kinds have such conditions
  const refused = (status?.conditions ?? []).filter(({ type, status: value }) => value === 'False' && type !== 'Ready')
  return refused.map(({ type, message = '' }) => {
    return { severity: 'note', object: titleOf(object), message: `${type}: ${message}` }
  })
}
