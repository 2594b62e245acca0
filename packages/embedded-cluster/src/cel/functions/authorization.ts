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

/** A value that is equal only to itself. */
abstract class Opaque extends CelObject {
  override equals(other: CelObject): boolean {
    return other === this
  }
}

/** The variable `authorizer`. */
export class CelAuthorizer extends Opaque {
  override readonly typeName = 'kubernetes.authorization.Authorizer'
  readonly checker: AccessChecker
  readonly #request: ResourceAccess | undefined

  /** `request` is the resource of the request, which is `authorizer.requestResource`. */
  constructor(checker: AccessChecker, request?: ResourceAccess) {
    super()
    this.checker = checker
    this.#request = request
  }

  override field(name: string): CelValue | undefined {
    return name === 'requestResource' && this.#request !== undefined
      ? new ResourceCheck(this.checker, this.#request)
      : undefined
  }
}

class PathCheck extends Opaque {
  override readonly typeName = 'kubernetes.authorization.PathCheck'
  readonly checker: AccessChecker
  readonly path: string

  constructor(checker: AccessChecker, path: string) {
    super()
    this.checker = checker
    this.path = path
  }
}

class GroupCheck extends Opaque {
  override readonly typeName = 'kubernetes.authorization.GroupCheck'
  readonly checker: AccessChecker
  readonly group: string

  constructor(checker: AccessChecker, group: string) {
    super()
    this.checker = checker
    this.group = group
  }
}

class ResourceCheck extends Opaque {
  override readonly typeName = 'kubernetes.authorization.ResourceCheck'
  readonly checker: AccessChecker
  readonly access: ResourceAccess

  constructor(checker: AccessChecker, access: ResourceAccess) {
    super()
    this.checker = checker
    this.access = access
  }

  with(more: Partial<ResourceAccess>): ResourceCheck {
    return new ResourceCheck(this.checker, { ...this.access, ...more })
  }
}

class Decision extends Opaque {
  override readonly typeName = 'kubernetes.authorization.Decision'
  readonly allowed: boolean
  readonly reason: string

  constructor({ allowed, reason }: { readonly allowed: boolean; readonly reason: string }) {
    super()
    this.allowed = allowed
    this.reason = reason
  }
}

/** Methods of the authorizer, of checks and of decisions. */
export const authorizationMethods: FunctionTable = {
  path: method(dyn, CelAuthorizer, 1, ({ checker }, path) => {
    if (path === '') throw new CelError('path must not be empty')
    return new PathCheck(checker, path)
  }),
  group: method(dyn, CelAuthorizer, 1, ({ checker }, group) => new GroupCheck(checker, group)),
  serviceAccount: method(dyn, CelAuthorizer, 2, ({ checker }, namespace, name) => {
    if (namespace === '' || name === '') throw new CelError('a service account needs a namespace and a name')
    return new CelAuthorizer(checker.forServiceAccount(namespace, name))
  }),
  resource: method(dyn, GroupCheck, 1, ({ checker, group }, resource) => {
    if (resource === '') throw new CelError('resource must not be empty')
    return new ResourceCheck(checker, { group, resource })
  }),
  subresource: method(dyn, ResourceCheck, 1, (check, subresource) => check.with({ subresource })),
  namespace: method(dyn, ResourceCheck, 1, (check, namespace) => check.with({ namespace })),
  name: method(dyn, ResourceCheck, 1, (check, name) => check.with({ name })),
  // Rules of RBAC do not distinguish requests by their selectors.
  fieldSelector: method(dyn, ResourceCheck, 1, (check) => check),
  labelSelector: method(dyn, ResourceCheck, 1, (check) => check),
  check: {
    result: dyn,
    call: ([check, verb], { budget }) => {
      if (typeof verb !== 'string') return undefined
      if (!(check instanceof PathCheck) && !(check instanceof ResourceCheck)) return undefined
      budget.spend(CHECK_COST)
      const access = check instanceof PathCheck ? { verb, path: check.path } : { verb, ...check.access }
      return new Decision(check.checker.check(access))
    },
  },
  allowed: method(scalar('bool'), Decision, 0, ({ allowed }) => allowed),
  reason: method(scalar('string'), Decision, 0, ({ reason }) => reason),
  // The decisions of this server have no errors: a role that is missing grants nothing.
  errored: method(scalar('bool'), Decision, 0, () => false),
  error: method(scalar('string'), Decision, 0, () => ''),
}

/** A method of one type with so many arguments, all of them strings. */
function method<T extends CelObject>(
  result: StaticType,
  // biome-ignore lint/suspicious/noExplicitAny: constructors of any parameters, for instanceof only
  type: abstract new (...parameters: any) => T,
  count: number,
  call: (receiver: T, first: string, second: string) => CelValue,
): CelFunction {
  return {
    result,
    call: ([receiver, ...args]) => {
      const texts = args.filter((value) => typeof value === 'string')
      if (!(receiver instanceof type) || args.length !== count || texts.length !== count) return undefined
      const [first = '', second = ''] = texts
      return call(receiver, first, second)
    },
  }
}
