/**
 * Labels of what the operator makes. There are two schemes. Selectors can never change, so nothing that changes with an
 * upgrade or another mode is part of one.
 */

const NAME = 'app.kubernetes.io/name'
/** The name of the resource that an object is rendered for. */
export const CREATED_BY = 'app.kubernetes.io/created-by'
const MANAGED_BY = 'app.kubernetes.io/managed-by'
const COMPONENT = 'app.kubernetes.io/component'
const VERSION = 'app.kubernetes.io/version'

const OPERATOR = 'dynatrace-operator'

/** Labels of an object, and those of them that select its pods. */
export interface LabelSet {
  readonly all: Readonly<Record<string, string>>
  readonly match: Readonly<Record<string, string>>
}

/** Who carries app labels. */
export interface App {
  readonly name: string
  /** The name of the resource that it is rendered for. */
  readonly owner: string
  readonly component: string
  readonly version: string
}

/** Labels of workloads that have their own version. */
export function appLabels({ name, owner, component, version }: App): LabelSet {
  const match = { [NAME]: name, [CREATED_BY]: owner, [MANAGED_BY]: OPERATOR }
  return { match, all: { ...match, [COMPONENT]: component.replaceAll('_', ''), [VERSION]: version } }
}

/** Who carries core labels. */
export interface Part {
  readonly owner: string
  readonly component: string
  readonly operatorVersion: string
}

/** Labels of what belongs to the operator itself and has its version. */
export function coreLabels({ owner, component, operatorVersion }: Part): LabelSet {
  const match = { [NAME]: OPERATOR, [CREATED_BY]: owner, [COMPONENT]: component }
  return { match, all: { ...match, [VERSION]: operatorVersion } }
}
