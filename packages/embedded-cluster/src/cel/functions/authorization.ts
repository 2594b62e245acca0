/** Authorization checks in expressions: `authorizer.group('apps').resource('deployments').check('create').allowed()`. */
import { CelError } from '../cel-error.ts'
import { dyn, type StaticType, scalar } from '../static-type.ts'
import { CelObject, type CelValue } from '../values.ts'
import type { CelFunction, FunctionTable } from './cel-function.ts'

/** What an expression asks for: a path, or a resource. */
export type CheckedAccess =
  | { readonly verb: string; readonly path: string }
  | {
      readonly verb: string
      readonly group: string
      readonly resource: string
      readonly subresource?: string
      readonly namespace?: string
      readonly name?: string
    }

/** Decides on what an expression asks for. */
export interface AccessChecker {
  check(access: CheckedAccess): { readonly allowed: boolean; readonly reason: string }
  /** The same for a service account. */
  forServiceAccount(namespace: string, name: string): AccessChecker
}

type ResourceAccess = Omit<Extract<CheckedAccess, { resource: string }>, 'verb'>

/** Steps of one check, as many as on a real server. It reads all roles and bindings of the user. */
const CHECK_COST = 350_000

/** A value that expressions can only call methods of. It is equal only to itself. */
abstract class Opaque<T> extends CelObject {
  readonly content: T

  constructor(content: T) {
    super()
    this.content = content
  }

  override equals(other: CelObject): boolean {
    return other === this
  }
}

interface Checking {
  readonly checker: AccessChecker
}

/** The variable `authorizer`; `request` is the resource of the request, which is `authorizer.requestResource`. */
export class CelAuthorizer extends Opaque<Checking & { readonly request?: ResourceAccess }> {
  override readonly typeName = 'kubernetes.authorization.Authorizer'

  override field(name: string): CelValue | undefined {
    const { checker, request } = this.content
    return name === 'requestResource' && request !== undefined
      ? new ResourceCheck({ checker, access: request })
      : undefined
  }
}

class PathCheck extends Opaque<Checking & { readonly path: string }> {
  override readonly typeName = 'kubernetes.authorization.PathCheck'
}

class GroupCheck extends Opaque<Checking & { readonly group: string }> {
  override readonly typeName = 'kubernetes.authorization.GroupCheck'
}

class ResourceCheck extends Opaque<Checking & { readonly access: ResourceAccess }> {
  override readonly typeName = 'kubernetes.authorization.ResourceCheck'
}

class Decision extends Opaque<ReturnType<AccessChecker['check']>> {
  override readonly typeName = 'kubernetes.authorization.Decision'
}

/** Methods of the authorizer, of checks and of decisions. */
export const authorizationMethods: FunctionTable = {
  path: method(dyn, CelAuthorizer, 1, ({ checker }, path) => {
    if (path === '') throw new CelError('path must not be empty')
    return new PathCheck({ checker, path })
  }),
  group: method(dyn, CelAuthorizer, 1, ({ checker }, group) => new GroupCheck({ checker, group })),
  serviceAccount: method(dyn, CelAuthorizer, 2, ({ checker }, namespace, name) => {
    if (namespace === '' || name === '') throw new CelError('a service account needs a namespace and a name')
    return new CelAuthorizer({ checker: checker.forServiceAccount(namespace, name) })
  }),
  resource: method(dyn, GroupCheck, 1, ({ checker, group }, resource) => {
    if (resource === '') throw new CelError('resource must not be empty')
    return new ResourceCheck({ checker, access: { group, resource } })
  }),
  subresource: detail('subresource'),
  namespace: detail('namespace'),
  name: detail('name'),
  // Rules of RBAC do not distinguish requests by their selectors.
  fieldSelector: method(dyn, ResourceCheck, 1, (content) => new ResourceCheck(content)),
  labelSelector: method(dyn, ResourceCheck, 1, (content) => new ResourceCheck(content)),
  check: {
    result: dyn,
    call: ([check, verb], { budget }) => {
      if (typeof verb !== 'string') return undefined
      if (!(check instanceof PathCheck) && !(check instanceof ResourceCheck)) return undefined
      budget.spend(CHECK_COST)
      const { checker } = check.content
      const access = check instanceof PathCheck ? { path: check.content.path } : check.content.access
      return new Decision(checker.check({ verb, ...access }))
    },
  },
  allowed: method(scalar('bool'), Decision, 0, ({ allowed }) => allowed),
  reason: method(scalar('string'), Decision, 0, ({ reason }) => reason),
  // The decisions of this server have no errors: a role that is missing grants nothing.
  errored: method(scalar('bool'), Decision, 0, () => false),
  error: method(scalar('string'), Decision, 0, () => ''),
}

/** A method that adds one detail to what is asked about a resource. */
function detail(name: 'subresource' | 'namespace' | 'name'): CelFunction {
  return method(
    dyn,
    ResourceCheck,
    1,
    ({ checker, access }, value) => new ResourceCheck({ checker, access: { ...access, [name]: value } }),
  )
}

/** A method of one type with so many arguments, all of them strings. */
function method<T>(
  result: StaticType,
  type: abstract new (content: T) => Opaque<T>,
  count: number,
  call: (content: T, first: string, second: string) => CelValue,
): CelFunction {
  return {
    result,
    call: ([receiver, ...args]) => {
      const texts = args.filter((value) => typeof value === 'string')
      if (!(receiver instanceof type) || args.length !== count || texts.length !== count) return undefined
      const [first = '', second = ''] = texts
      return call(receiver.content, first, second)
    },
  }
}
