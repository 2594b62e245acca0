/** The earlier templates of a StatefulSet or DaemonSet, stored as ControllerRevisions. */
import type { Lookup } from './cluster-view.ts'
import type { ControllerContext } from './context.ts'
import { isAlreadyExists } from './control-loop.ts'
import { contentHash } from './hash.ts'
import { type ClusterObject, controllerOf, controllerReference, namespaceOf } from './kinds/meta.ts'
import type { PodTemplate } from './kinds/pods.ts'
import type { ControllerRevision } from './kinds/workloads.ts'
import { jsonEquals, ResourceClient } from './resource-client.ts'

const HASH = 'controller.kubernetes.io/hash'
/** Besides it, revisions of DaemonSets have the label of their pods. */
const DAEMON_HASH = 'controller-revision-hash'

/** More collisions of one hash than this are not plausible. */
const MOST_COLLISIONS = 20

/** A workload with revisions. */
export interface Revisioned extends ClusterObject {
  readonly spec: { readonly template: PodTemplate; readonly revisionHistoryLimit?: number }
}

/** The revision's template. */
export function templateOf(revision: ControllerRevision): PodTemplate {
  const { $patch: _directive, ...template } = revision.data.spec.template as PodTemplate & { $patch?: string }
  return template
}

/** The hash in the label of the revision's pods. */
export function revisionHash(revision: ControllerRevision): string {
  return revision.metadata.labels?.[HASH] ?? revision.metadata.name
}

/** Stores revisions. One instance serves one kind of workload. */
export class RevisionHistory {
  readonly #client: ResourceClient<ControllerRevision>
  readonly #owned: Lookup<ControllerRevision>

  constructor(context: ControllerContext) {
    this.#client = new ResourceClient(context.api, 'controllerrevisions.apps')
    this.#owned = context.view.lookup<ControllerRevision>('controllerrevisions.apps', (revision) => {
      const owner = controllerOf(revision)
      return owner === undefined ? [] : [owner.uid]
    })
  }

  /** Oldest first. */
  of(owner: Revisioned): ControllerRevision[] {
    return this.#owned.get(owner.metadata.uid).sort((a, b) => a.revision - b.revision)
  }

  /** The revision of the owner's current template; a restored template becomes the newest revision again. */
  async ensure(owner: Revisioned): Promise<ControllerRevision> {
    const all = this.of(owner)
    const newest = all.at(-1)
    const existing = all.findLast((revision) => jsonEquals(templateOf(revision), owner.spec.template))
    if (existing === undefined) return this.#create(owner, (newest?.revision ?? 0) + 1)
    if (existing === newest || newest === undefined) return existing
    return this.#client.update({ ...existing, revision: newest.revision + 1 })
  }

  /** Deletes the oldest revisions beyond the owner's limit, except those in use. */
  async forget(owner: Revisioned, inUse: ReadonlySet<string>): Promise<void> {
    const idle = this.of(owner).filter((revision) => !inUse.has(revision.metadata.name))
    const limit = owner.spec.revisionHistoryLimit ?? 10
    for (const revision of idle.slice(0, Math.max(0, idle.length - limit))) await this.#client.delete(revision)
  }

  /** Adopts a revision of an earlier owner with the same name, whose pods need no replacement. */
  async #adopt(owner: Revisioned, name: string): Promise<ControllerRevision | undefined> {
    const found = this.#client.get(namespaceOf(owner), name)
    if (found === undefined || controllerOf(found) !== undefined) return undefined
    if (!jsonEquals(templateOf(found), owner.spec.template)) return undefined
    const ownerReferences = [...(found.metadata.ownerReferences ?? []), controllerReference(owner)]
    return this.#client.update({ ...found, metadata: { ...found.metadata, ownerReferences } })
  }

  async #create(owner: Revisioned, number: number): Promise<ControllerRevision> {
    for (let salt = 0; salt < MOST_COLLISIONS; salt++) {
      const hash = contentHash(owner.spec.template, salt)
      try {
        return await this.#client.create({
          apiVersion: 'apps/v1',
          kind: 'ControllerRevision',
          metadata: {
            name: `${owner.metadata.name}-${hash}`,
            namespace: namespaceOf(owner),
            labels: {
              ...owner.spec.template.metadata?.labels,
              [HASH]: hash,
              ...(owner.kind === 'DaemonSet' ? { [DAEMON_HASH]: hash } : {}),
            },
            ownerReferences: [controllerReference(owner)],
          },
          // `kubectl rollout undo` sends the data as a strategic merge patch.
          data: { spec: { template: sorted({ ...owner.spec.template, ...{ $patch: 'replace' } }) } },
          revision: number,
        })
      } catch (error) {
        if (!isAlreadyExists(error)) throw error
        const adopted = await this.#adopt(owner, `${owner.metadata.name}-${hash}`)
        if (adopted !== undefined) return adopted
      }
    }
    throw new Error(`no unused name for a revision of ${owner.kind} ${namespaceOf(owner)}/${owner.metadata.name}`)
  }
}

/** The same value with the keys of all objects in order, as other programs encode it: they compare the data by its bytes. */
function sorted<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, part: unknown) => {
    const isObject = typeof part === 'object' && part !== null && !Array.isArray(part)
    return isObject ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  })
}
