/** The names of a new project: validated, and derived from each other. */

/** What the files of a project are made with. */
export interface ProjectNames {
  /** API group, such as `shop.example.com`. */
  readonly group: string
  /** Kind of the resource, such as `Shop`. */
  readonly kind: string
  /** The resource in URLs and for kubectl, such as `shops`. */
  readonly plural: string
  /** Name of the project, the operator and its image, such as `shop-operator`. */
  readonly name: string
}

/** Names that the generated code uses itself. */
const TAKEN = new Set(
  'Type Exploration DesiredObject ObjectOf AbortController AbortSignal ConfigMap ConfigMaps Promise Object Error EmbeddedCluster KubeClient SimulatedClock WebhookRouter Readonly Record JSON URL Array'.split(
    ' ',
  ),
)

/** A name that cannot be used, and why. */
export class ProjectNameError extends Error {
  override readonly name = 'ProjectNameError'
  readonly code = 'PROJECT_NAME'
}

/**
 * Checks an API group.
 *
 * *Errors*: {@link ProjectNameError}.
 */
export function checkGroup(group: string): string {
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group) || group.length > 253) {
    throw new ProjectNameError(
      `group ${JSON.stringify(group)}: use a domain name in lower case, such as shop.example.com`,
    )
  }
  if (/(^|\.)k8s\.io$|(^|\.)kubernetes\.io$/.test(group)) {
    throw new ProjectNameError(
      `group ${JSON.stringify(group)}: k8s.io and kubernetes.io belong to Kubernetes; use a domain of yours`,
    )
  }
  return group
}

/**
 * Checks a kind.
 *
 * *Errors*: {@link ProjectNameError}.
 */
export function checkKind(kind: string): string {
  if (!/^[A-Z][A-Za-z0-9]{0,61}$/.test(kind)) {
    throw new ProjectNameError(
      `kind ${JSON.stringify(kind)}: use letters and digits, beginning with a capital, such as Shop`,
    )
  }
  if (TAKEN.has(kind))
    throw new ProjectNameError(`kind ${JSON.stringify(kind)}: the generated code uses this name; choose another`)
  return kind
}

/**
 * Checks the name of the operator.
 *
 * *Errors*: {@link ProjectNameError}.
 */
export function checkName(name: string): string {
  if (!/^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$/.test(name)) {
    throw new ProjectNameError(
      `name ${JSON.stringify(name)}: use lower-case letters, digits and dashes, at most 50, beginning with a letter`,
    )
  }
  return name
}

/**
 * Checks a plural.
 *
 * *Errors*: {@link ProjectNameError}.
 */
export function checkPlural(plural: string): string {
  if (!/^[a-z][a-z0-9]{0,61}$/.test(plural)) {
    throw new ProjectNameError(`plural ${JSON.stringify(plural)}: use lower-case letters and digits, such as shops`)
  }
  return plural
}

/**
 * The usual plural of a kind.
 *
 * @example
 * pluralOf('Policy') // 'policies'
 */
export function pluralOf(kind: string): string {
  const singular = kind.toLowerCase()
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`
  return /(?:s|x|z|ch|sh)$/.test(singular) ? `${singular}es` : `${singular}s`
}

/**
 * The usual name of an operator.
 *
 * @example
 * nameOf('WebShop') // 'web-shop-operator'
 */
export function nameOf(kind: string): string {
  const words = kind.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
  return `${words.slice(0, 40)}-operator`
}
