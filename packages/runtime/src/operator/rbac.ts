/** The roles of an operator, derived from what its controllers watch, render and finalize. */
import type { ClusterRole, PolicyRule, Resource, Role } from '@reeve/kube'
import type { EngineFacts } from '../controller/reconcile-request.ts'

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
}

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
  readonly reconcile: { readonly engine?: EngineFacts }
}

type Kind = Pick<Resource, 'group' | 'plural'>

interface KindSomewhere {
  readonly resource: Kind
  readonly namespace?: string
}

const somewhere = (kind: Kind | KindSomewhere): KindSomewhere => ('resource' in kind ? kind : { resource: kind })

const READ = ['get', 'list', 'watch']
const WRITE = [...READ, 'create', 'patch', 'delete']

/** Verbs on a resource, in a namespace or in all of them. */
interface Grant {
  readonly namespace: string | undefined
  readonly apiGroup: string
  readonly resource: string
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

/**
 * The roles that an operator of this name with these controllers needs.
 *
 * @example
 * const { clusterRole, roles } = rolesOf('greeter', controllers, { namespace: 'greeter-system' })
 */
export function rolesOf(
  name: string,
  controllers: readonly Described[],
  options: RbacOptions,
  rules: readonly ExtraRule[] = [],
): RbacRoles {
  const { namespace = 'default' } = options
  const grants = [...controllers.flatMap(grantsOf), ...ownGrants(name, namespace, options)]
  const own = (wanted: string | undefined) => [
    ...rulesOf(grants.filter((grant) => grant.namespace === wanted)),
    ...rules.filter((rule) => rule.namespace === wanted).map(({ namespace: _where, ...rule }) => rule),
  ]
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const namespaces = [...new Set([namespace, ...[...grants, ...rules].flatMap((one) => one.namespace ?? [])])]
  return {
    clusterRole: { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: own(undefined) },
    roles: namespaces.map((where) => ({
      apiVersion,
      kind: 'Role',
      metadata: { name, namespace: where },
      rules: own(where),
    })),
  }
}

function grantsOf(controller: Described): readonly Grant[] {
  const { owns = [], watches = [], reads = [] } = controller
  const { engine } = controller.reconcile
  const primary = somewhere(controller.for)
  const at = ({ resource, namespace }: KindSomewhere, verbs: readonly string[]) => grant(resource, namespace, verbs)
  const isRendered = ({ group, plural }: Kind) =>
    engine?.elsewhere.some((kind) => kind.group === group && kind.plural === plural) ?? false
  const sub = (name: string, verbs: readonly string[]): Grant => {
    const whole = at(primary, verbs)
    return { ...whole, resource: `${whole.resource}/${name}` }
  }
  return [
    at(primary, engine?.finalizes ? [...READ, 'patch'] : READ),
    sub('status', ['update']),
    // To set blockOwnerDeletion on what it owns.
    ...(owns.length > 0 ? [sub('finalizers', ['update'])] : []),
    ...owns.map((source) => at(somewhere(source), WRITE)),
    ...[...watches, ...reads].map(somewhere).map((source) => at(source, isRendered(source.resource) ? WRITE : READ)),
    ...onDemand(engine, primary.namespace),
    grant(EVENTS, undefined, ['create', 'patch']),
  ]
}

const EVENTS = { group: '', plural: 'events' }

function onDemand(engine: EngineFacts | undefined, namespace: string | undefined): readonly Grant[] {
  const verbs = WRITE.filter((verb) => verb !== 'watch')
  return (engine?.onDemand ?? []).map((resource) => grant(resource, namespace, verbs))
}

function grant({ group, plural }: Kind, namespace: string | undefined, verbs: readonly string[]): Grant {
  return { namespace, apiGroup: group, resource: plural, verbs }
}

/** What every operator needs for itself. */
function ownGrants(name: string, namespace: string, { webhook }: RbacOptions): readonly Grant[] {
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
  const crds = webhook?.customResourceDefinitions ?? []
  const converted = {
    namespace: undefined,
    apiGroup: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    verbs: ['get', 'patch'],
    resourceNames: crds,
  }
  return [
    ...kept('coordination.k8s.io', 'leases', name),
    ...(webhook ? [...kept('', 'secrets', webhook.secret), ...configurations] : []),
    ...(crds.length > 0 ? [converted] : []),
  ]
}

/** One rule per set of verbs of a group, each resource once. */
function rulesOf(grants: readonly Grant[]): readonly PolicyRule[] {
  const verbs = new Map<string, Grant>()
  for (const one of grants) {
    const id = JSON.stringify([one.apiGroup, one.resource, one.resourceNames])
    const all = new Set([...(verbs.get(id)?.verbs ?? []), ...one.verbs])
    verbs.set(id, { ...one, verbs: [...all] })
  }
  const rules = new Map<string, Grant[]>()
  for (const one of verbs.values()) {
    const id = JSON.stringify([one.apiGroup, one.verbs, one.resourceNames])
    rules.set(id, [...(rules.get(id) ?? []), one])
  }
  return [...rules.values()].flatMap((alike) => {
    const [first] = alike
    if (first === undefined) return []
    const { apiGroup, resourceNames } = first
    const rule = { apiGroups: [apiGroup], resources: alike.map(({ resource }) => resource), verbs: [...first.verbs] }
    return [resourceNames === undefined ? rule : { ...rule, resourceNames: [...resourceNames] }]
  })
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
