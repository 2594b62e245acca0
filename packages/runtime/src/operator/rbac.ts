/** The roles of an operator, derived from what its controllers watch, render and finalize. */
import type { ClusterRole, PolicyRule, Resource, Role } from '@reeve/kube'
import type { EngineFacts } from '../components/engine-sources.ts'

/** What does not follow from controllers. */
export interface RbacOptions {
  /** The namespace of the operator: of its Lease, and of its certificate. @default 'default' */
  readonly namespace?: string
  /** The Secret and the webhook configurations of webhooks whose certificate the operator issues. */
  readonly webhook?: {
    readonly secret: string
    readonly configurations: readonly string[]
    /** CRDs whose conversion webhook has to trust the certificate. @default those that the operator converts */
    readonly customResourceDefinitions?: readonly string[]
  }
  /** Whether the operator is created with `sharding`: it needs more rights for Leases then. @default false */
  readonly isSharded?: boolean
  /** Whether the operator is created with `upgradeCrds`. @default false */
  readonly upgradesCrds?: boolean
  /** Whether `/metrics` is served only to accounts that may get it. @default false */
  readonly protectsMetrics?: boolean
  /** The namespaces that the operator is created with. Cluster-scoped kinds still need a ClusterRole. @default all */
  readonly namespaces?: readonly string[] | undefined
}

/** The rules for protected metrics. */
const METRICS_RULES: readonly PolicyRule[] = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
]

/** The roles of an operator. */
export interface RbacRoles {
  /** For what it watches in all namespaces. */
  readonly clusterRole: ClusterRole
  /** For what it watches or keeps in single namespaces, its own first. */
  readonly roles: readonly Role[]
}

/** A right that does not follow from a controller. */
export interface ExtraRule extends PolicyRule {
  /** Where it is needed. @default in all namespaces */
  readonly namespace?: string
}

/** What the roles of a controller follow from. */
interface Described {
  readonly for: Kind | KindSomewhere
  readonly owns?: readonly (Kind | KindSomewhere)[]
  readonly watches?: readonly KindSomewhere[]
  readonly reads?: readonly (Kind | KindSomewhere)[]
  readonly failureEvents?: boolean | undefined
  readonly engine: EngineFacts | undefined
}

type Kind = Pick<Resource, 'group' | 'plural' | 'namespaced'>

interface KindSomewhere {
  readonly resource: Kind
  readonly namespace?: string
  readonly fieldSelector?: string
}

const somewhere = (kind: Kind | KindSomewhere): KindSomewhere => ('resource' in kind ? kind : { resource: kind })

/** What an informer needs. */
const CACHE = ['list', 'watch']
const READ = ['get', ...CACHE]
const WRITE = [...READ, 'create', 'patch', 'delete']

/** Verbs on a resource, in a namespace or in all of them. */
interface Grant {
  readonly namespace: string | undefined
  /** Whether it is needed only in the namespaces that the operator watches. */
  readonly isWatched?: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** What an operator has besides its controllers. */
interface Own {
  readonly name: string
  readonly lease: string
  /** The names of its CRDs. */
  readonly crds: readonly string[]
}

/**
 * The roles that an operator of this name, with this Lease and these controllers needs.
 *
 * @example
 * const { clusterRole, roles } = rolesOf({ name: 'greeter', lease: 'greeter', crds: [] }, controllers, { namespace: 'system' })
 */
export function rolesOf(
  { name, ...own }: Own,
  controllers: readonly Described[],
  options: RbacOptions,
  rules: readonly ExtraRule[] = [],
): RbacRoles {
  const { namespace = 'default' } = options
  const watched = controllers.flatMap(grantsOf).flatMap((grant) => inNamespaces(grant, options.namespaces))
  const grants = [...watched, ...ownGrants(own, namespace, options)]
  const rulesIn = (wanted: string | undefined) => [
    ...rulesOf(grants.filter((grant) => grant.namespace === wanted)),
    ...rules.filter((rule) => rule.namespace === wanted).map(({ namespace: _where, ...rule }) => rule),
    ...(options.protectsMetrics && wanted === undefined ? METRICS_RULES : []),
  ]
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const namespaces = [...new Set([namespace, ...[...grants, ...rules].flatMap((one) => one.namespace ?? [])])]
  return {
    clusterRole: { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: rulesIn(undefined) },
    roles: namespaces.map((where) => ({
      apiVersion,
      kind: 'Role',
      metadata: { name, namespace: where },
      rules: rulesIn(where),
    })),
  }
}

/** The grant in each watched namespace, as informers are limited: see `namespaces` of a controller. */
function inNamespaces(grant: Grant, namespaces: readonly string[] | undefined): readonly Grant[] {
  if (namespaces === undefined || grant.namespace !== undefined || !grant.isWatched) return [grant]
  return [...new Set(namespaces)].map((namespace) => ({ ...grant, namespace }))
}

function grantsOf(controller: Described): readonly Grant[] {
  const { owns = [], watches = [], reads = [], engine } = controller
  const primary = somewhere(controller.for)
  const cached = [...owns, ...watches, ...reads].map(somewhere)
  // Events about a cluster-scoped object are written to another namespace than the watched ones.
  const { namespaced } = primary.resource
  const events = grant({ ...EVENTS, namespaced }, primary.namespace, ['create', 'patch'])
  if (engine === undefined) {
    // Whatever else the function does is declared in the rules of the operator.
    const caches = [primary, ...cached].flatMap((source) => at(source, CACHE))
    return controller.failureEvents === false ? caches : [...caches, events]
  }
  const sub = (name: string): Grant => {
    const whole = grant(primary.resource, primary.namespace, ['update'])
    return { ...whole, resource: `${whole.resource}/${name}` }
  }
  return [
    ...at(primary, engine.finalizes ? [...READ, 'patch'] : READ),
    sub('status'),
    // To set blockOwnerDeletion on what it owns.
    ...(owns.length > 0 ? [sub('finalizers')] : []),
    ...owns.map(somewhere).flatMap((source) => at(source, WRITE)),
    ...[...watches, ...reads].map(somewhere).flatMap((source) => at(source, verbsElsewhere(engine, source.resource))),
    ...onDemand(engine, primary.namespace),
    events,
  ]
}

/** Of kinds that are watched or read only, some are rendered in other namespaces. */
function verbsElsewhere({ elsewhere, released }: EngineFacts, { group, plural }: Kind): readonly string[] {
  const isAmong = (kinds: readonly Omit<Kind, 'namespaced'>[]) =>
    kinds.some((kind) => kind.group === group && kind.plural === plural)
  if (isAmong(released)) return [...READ, 'patch']
  return isAmong(elsewhere) ? WRITE : READ
}

/** A name in the field selector limits the right to that object; creating cannot be limited. */
function at({ resource, namespace, fieldSelector = '' }: KindSomewhere, verbs: readonly string[]): readonly Grant[] {
  const whole = grant(resource, namespace, verbs)
  const [, name] = NAME_SELECTOR.exec(fieldSelector) ?? []
  if (name === undefined) return [whole]
  const named = { ...whole, verbs: verbs.filter((verb) => verb !== 'create'), resourceNames: [name] }
  return verbs.includes('create') ? [named, { ...whole, verbs: ['create'] }] : [named]
}

const NAME_SELECTOR = /^metadata\.name=([^,=!]+)$/

const EVENTS = { group: '', plural: 'events' }

function onDemand(engine: EngineFacts, namespace: string | undefined): readonly Grant[] {
  const verbs = WRITE.filter((verb) => verb !== 'watch')
  return engine.onDemand.map((resource) => grant(resource, namespace, verbs))
}

function grant({ group, plural, namespaced }: Kind, namespace: string | undefined, verbs: readonly string[]): Grant {
  return { namespace, isWatched: namespaced, apiGroup: group, resource: plural, verbs }
}

/** Replicas have Leases of their own, whose names are not known in advance, and delete those of the dead. */
const SHARD_LEASES = {
  apiGroup: 'coordination.k8s.io',
  resource: 'leases',
  verbs: ['create', 'get', 'list', 'update', 'delete'],
}

/** What every operator needs for itself. */
function ownGrants(
  { lease, crds }: Omit<Own, 'name'>,
  namespace: string,
  { webhook, isSharded = false, upgradesCrds = false }: RbacOptions,
): readonly Grant[] {
  const kept = (apiGroup: string, resource: string, resourceName: string): readonly Grant[] => [
    { namespace, apiGroup, resource, verbs: ['create'] },
    { namespace, apiGroup, resource, verbs: ['get', 'update'], resourceNames: [resourceName] },
  ]
  const configurations = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map((resource) => ({
    namespace: undefined,
    apiGroup: 'admissionregistration.k8s.io',
    resource,
    verbs: ['get', 'patch'],
    resourceNames: webhook?.configurations ?? [],
  }))
  const patched = [...new Set([...(webhook?.customResourceDefinitions ?? []), ...(upgradesCrds ? crds : [])])]
  const definitions = {
    namespace: undefined,
    apiGroup: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    verbs: ['get', 'patch'],
    resourceNames: patched,
  }
  return [
    ...(isSharded ? [{ namespace, ...SHARD_LEASES }] : kept('coordination.k8s.io', 'leases', lease)),
    ...(webhook ? [...kept('', 'secrets', webhook.secret), ...configurations] : []),
    ...(patched.length > 0 ? [definitions] : []),
  ]
}

/** One rule per set of verbs of a group, each resource and each name once. */
function rulesOf(grants: readonly Grant[]): readonly PolicyRule[] {
  const verbs = new Map<string, Grant>()
  for (const one of grants) {
    const id = JSON.stringify([one.apiGroup, one.resource, one.resourceNames])
    const all = new Set([...(verbs.get(id)?.verbs ?? []), ...one.verbs])
    verbs.set(id, { ...one, verbs: [...all] })
  }
  const names = Map.groupBy(verbs.values(), (one) =>
    JSON.stringify([one.apiGroup, one.resource, one.verbs, isNamed(one)]),
  )
  const named = [...names.values()].map((alike) => alike.reduce(withNamesOf))
  const rules = Map.groupBy(named, ({ apiGroup, verbs: allowed, resourceNames }) =>
    JSON.stringify([apiGroup, allowed, resourceNames]),
  )
  return [...rules.values()].flatMap((alike) => {
    const [first] = alike
    if (first === undefined) return []
    const { apiGroup, resourceNames } = first
    const rule = { apiGroups: [apiGroup], resources: alike.map(({ resource }) => resource), verbs: [...first.verbs] }
    return [resourceNames === undefined ? rule : { ...rule, resourceNames: [...resourceNames] }]
  })
}

const isNamed = ({ resourceNames }: Grant): boolean => resourceNames !== undefined

/** Both are of one resource, with the same verbs. */
function withNamesOf(left: Grant, right: Grant): Grant {
  return { ...left, resourceNames: [...new Set([...(left.resourceNames ?? []), ...(right.resourceNames ?? [])])] }
}

/**
 * The rights among `needed` that `granted` does not give, each as `verb group/resource`. For tests of charts.
 *
 * @example
 * expect(missingRights(operator.rbac().clusterRole.rules ?? [], chartRules)).toEqual([])
 */
export function missingRights(needed: readonly PolicyRule[], granted: readonly PolicyRule[]): readonly string[] {
  const has = (list: readonly string[] | undefined, value: string) => list?.some((one) => one === value || one === '*')
  return needed.flatMap(({ apiGroups = [], resources = [], verbs, resourceNames = [] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs
          .filter(
            (verb) =>
              !granted.some(
                (rule) =>
                  has(rule.apiGroups, group) &&
                  has(rule.resources, resource) &&
                  has(rule.verbs, verb) &&
                  ((rule.resourceNames?.length ?? 0) === 0 ||
                    (resourceNames.length > 0 && resourceNames.every((one) => rule.resourceNames?.includes(one)))),
              ),
          )
          .map((verb) => `${verb} ${group === '' ? '' : `${group}/`}${resource}`),
      ),
    ),
  )
}
