/** Which rights a client used, and which a chart gives: in the same words, so that they can be compared. */
import type { RequestReport, UnknownObject } from '@reeve/kube'
import { rulesOf } from './find.ts'

/** Notes the requests of a client. */
export class UsedRights {
  readonly #namespace: string
  readonly #used = new Set<string>()
  readonly #refusals = new Set<string>()

  /** @param namespace that of the Role; everything elsewhere is for the ClusterRole */
  constructor(namespace: string) {
    this.#namespace = namespace
  }

  /** To be given to the client. */
  readonly note = (report: RequestReport): void => {
    const { verb, group, resource, subresource, namespace, name, status } = report
    // Discovery and the like are not a matter of these roles.
    if (group === undefined || resource === undefined) return
    const text = rightText(verb === 'apply' ? 'patch' : verb, group, resource + (subresource ? `/${subresource}` : ''))
    if (status === 403) this.#refusals.add(`${text} ${namespace ?? '*'}/${name ?? '*'}`)
    else this.#used.add(`${namespace === this.#namespace ? 'Role' : 'ClusterRole'} ${text}`)
  }

  /** Requests that were denied. */
  get refusals(): readonly string[] {
    return [...this.#refusals].sort()
  }

  /** The rights of a role that were not used. */
  unused(objects: readonly UnknownObject[], kind: 'Role' | 'ClusterRole', name: string): readonly string[] {
    return grantedRights(objects, kind, name).filter((right) => !this.#used.has(`${kind} ${right}`))
  }

  forget(): void {
    this.#used.clear()
    this.#refusals.clear()
  }
}

/** Everything that a role allows, such as `get secrets` or `update apps/deployments/finalizers`. */
export function grantedRights(objects: readonly UnknownObject[], kind: string, name: string): readonly string[] {
  const rights = rulesOf(objects, kind, name).flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => rightText(verb, group, resource))),
    ),
  )
  return [...new Set(rights)].sort()
}

const rightText = (verb: string, group: string, resource: string): string =>
  `${verb} ${group === '' ? '' : `${group}/`}${resource}`
