/** Gives the engine the caches that it needs, and rejects a controller that lacks them. */
import type { KubeObject, Resource } from '@reeve/kube'
import { resourceName } from '../cache/informer-options.ts'
import type { Transform } from '../cache/transform.ts'
import { ControllerConfigError } from '../controller/controller-error.ts'
import type { Sources } from '../controller/controller-options.ts'
import { asSource, type Source } from '../controller/sources.ts'
import { keepsOwnFields } from '../engine/own-fields.ts'

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
 * The sources, with the transform that the engine needs on every kind that it renders: without it each object would be
 * written in every reconcile.
 *
 * *Errors*: {@link ControllerConfigError} when a rendered kind is not cached, a transform drops what the engine compares,
 * or the engine is for another resource.
 */
export function feedEngine<T extends KubeObject>(
  sources: Sources<T>,
  engine: EngineFacts,
  ownFields: Transform,
): Sources<T> {
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
  const rendered = new Set([...engine.owned, ...engine.elsewhere].map(resourceName))
  const feed = <S extends Source<KubeObject>>(source: S): S => {
    const { resource, transform, metadataOnly = false } = source
    // Also on kinds that are only watched: other controllers may render them, and share the informer then.
    if (transform === undefined) return { ...source, transform: ownFields }
    const isCompared = rendered.has(resourceName(resource)) && !metadataOnly
    if (isCompared && !keepsOwnFields(transform, engine.fieldManager, resource)) {
      const remedy = `one that keeps metadata.managedFields of ${engine.fieldManager}, or none: see keepOwnFields`
      throw new ControllerConfigError(name, `the transform of ${resourceName(resource)}`, transform.name || 'a', remedy)
    }
    return source
  }
  const fed = {
    owns: owns.map((source) => feed(asSource(source))),
    watches: watches.map(feed),
    reads: reads.map((source) => feed(asSource(source))),
  }
  requireAll(name, 'owns', engine.owned, fed.owns)
  requireAll(name, 'owns, watches or reads', engine.elsewhere, [...fed.owns, ...fed.watches, ...fed.reads])
  return { ...sources, ...fed }
}

function requireAll(
  name: string,
  option: string,
  rendered: readonly Resource[],
  sources: readonly Source<KubeObject>[],
): void {
  const cached = new Set(sources.map(({ resource }) => resourceName(resource)))
  const missing = rendered.find((resource) => !cached.has(resourceName(resource)))
  if (missing === undefined) return
  const listed = cached.size === 0 ? 'nothing' : [...cached].join(', ')
  throw new ControllerConfigError(name, option, listed, `complete: its components render ${resourceName(missing)}`)
}
