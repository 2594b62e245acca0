/** What the engine needs of its controller. */
import type { KubeObject, Resource } from '@reeve/kube'
import { resourceName } from '../cache/informer-options.ts'
import { ControllerConfigError } from '../controller/controller-error.ts'
import type { Sources } from '../controller/controller-options.ts'
import { asSource } from '../controller/sources.ts'

/** What the engine renders, and how. */
export interface EngineFacts {
  readonly resource: Resource
  /** Kinds that it renders. */
  readonly owned: readonly Resource[]
  /** Kinds that it renders in other namespaces. */
  readonly elsewhere: readonly Resource[]
  /** Those of `elsewhere` whose objects belong to others: it only sets fields, and never creates or deletes one. */
  readonly released: readonly Resource[]
  /** Kinds that it reads when they are needed. */
  readonly onDemand: readonly Resource[]
  readonly fieldManager: string
  /** Whether it sets a finalizer. */
  readonly finalizes: boolean
}

/**
 * Checks that a controller caches what the engine renders.
 *
 * *Errors*: {@link ControllerConfigError} when a rendered kind is not cached, or the engine is for another resource.
 */
export function requireSources<T extends KubeObject>(sources: Sources<T>, engine: EngineFacts): void {
  const { name, owns = [], watches = [], reads = [] } = sources
  const primary = asSource(sources.for).resource
  if (resourceName(primary) !== resourceName(engine.resource)) {
    throw new ControllerConfigError(
      name,
      'for',
      resourceName(primary),
      `${resourceName(engine.resource)}, as its engine says`,
    )
  }
  const owned = owns.map((source) => asSource(source).resource)
  const others = [...watches.map(({ resource }) => resource), ...reads.map((source) => asSource(source).resource)]
  requireAll(name, 'owns', engine.owned, owned)
  requireAll(name, 'owns, watches or reads', engine.elsewhere, [...owned, ...others])
}

function requireAll(name: string, option: string, rendered: readonly Resource[], resources: readonly Resource[]): void {
  const cached = new Set(resources.map(resourceName))
  const missing = rendered.find((resource) => !cached.has(resourceName(resource)))
  if (missing === undefined) return
  const listed = cached.size === 0 ? 'nothing' : [...cached].join(', ')
  throw new ControllerConfigError(name, option, listed, `complete: its components render ${resourceName(missing)}`)
}
