/**
 * What a cluster has of Istio's objects. They are read when they are needed instead of being watched: most clusters do
 * not know these kinds, and a watch on what is not there does nothing but fail. So nobody has to be restarted when
 * Istio comes or goes.
 */
import {
  formatKey,
  isForbidden,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type ObjectKey,
  objectKey,
  type Resource,
  type Stored,
} from '@reeve/kube'
import type { Change, LiveView, Logger } from '@reeve/runtime'
import type { DynaKube } from '../../api/latest.ts'
import { hasIstio } from './components/istio/istio.ts'
import { ISTIO_KINDS } from './components/istio/resources.ts'

/** A DynaKube asks for Istio in a cluster without it. */
export class IstioMissingError extends Error {
  readonly code = 'ISTIO_MISSING'
  override readonly name = 'IstioMissingError'

  constructor(cause: unknown) {
    super(
      'spec.enableIstio is true, but the cluster has no ServiceEntries and VirtualServices ' +
        '(networking.istio.io/v1beta1); install Istio or switch it off',
      { cause },
    )
  }
}

/** What reading needs of a pass. */
export interface MeshContext {
  readonly client: KubeClient
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Istio's objects of one namespace as they were read, with what was written since. */
export class Mesh {
  readonly #live = new Map<string, Stored<KubeObject>>()

  constructor(objects: Iterable<Stored<KubeObject>>) {
    for (const object of objects) this.#live.set(identify(object.kind, objectKey(object)), object)
  }

  /** Takes note of what was written. */
  record(changes: readonly Change[]): void {
    for (const { type, resource, object } of changes.filter((change) => isOfIstio(change.resource))) {
      const identity = identify(resource.kind, objectKey(object))
      if (type === 'deleted') this.#live.delete(identity)
      else this.#live.set(identity, object)
    }
  }

  /** A view that shows this of Istio, and `others` of everything else. */
  over(others: LiveView): LiveView {
    const live = this.#live
    return {
      get<T extends KubeObject>(of: Resource<T>, key: ObjectKey) {
        if (!isOfIstio(of)) return others.get(of, key)
        return live.get(identify(of.kind, key)) as Stored<T> | undefined // kept under its kind
      },
      ownedBy<T extends KubeObject>(of: Resource<T>, ownerUid: string) {
        if (!isOfIstio(of)) return others.ownedBy(of, ownerUid)
        const owned = [...live.values()].filter(
          ({ kind, metadata }) =>
            kind === of.kind && metadata.ownerReferences?.some(({ uid, controller }) => uid === ownerUid && controller),
        )
        return owned as readonly Stored<KubeObject>[] as readonly Stored<T>[] // of that kind
      },
    }
  }
}

const isOfIstio = ({ group }: Resource): boolean => ISTIO_KINDS.some((kind) => kind.group === group)
const identify = (kind: string, key: ObjectKey): string => `${kind}/${formatKey(key)}`

/** Reads what is there, when it may matter. */
export class MeshReader {
  /** DynaKubes that want nothing and have nothing, with their uid: they cost no request. One entry for each. */
  readonly #done = new Map<string, string>()

  /**
   * What there is for a DynaKube; `undefined` when it neither wants nor has anything.
   *
   * *Errors*: {@link IstioMissingError}; errors of the cluster when the DynaKube wants something.
   */
  async read(owner: Stored<DynaKube>, { client, logger, signal }: MeshContext): Promise<Mesh | undefined> {
    const isWanted = hasIstio(owner)
    const { uid, namespace = '' } = owner.metadata
    if (isWanted) this.forget(objectKey(owner))
    else if (this.#done.get(formatKey(objectKey(owner))) === uid) return undefined
    try {
      const lists = await Promise.all(
        ISTIO_KINDS.map((kind) => client.listAll<KubeObject>(kind, { namespace, signal })),
      )
      return new Mesh(lists.flatMap(({ items }) => items))
    } catch (error) {
      signal.throwIfAborted()
      // A namespaced list of a kind that exists is never missing.
      if (isWanted) throw isNotFound(error) ? new IstioMissingError(error) : error
      if (isNotFound(error) || isForbidden(error)) this.finish(owner)
      else logger.warn({ err: error }, 'objects of Istio could not be read, which are to be removed if there are any')
      return undefined
    }
  }

  /** To be told when a DynaKube that wants nothing has nothing any more. */
  finish(owner: Stored<DynaKube>): void {
    this.#done.set(formatKey(objectKey(owner)), owner.metadata.uid)
  }

  /** To be told when a DynaKube is gone. */
  forget(key: ObjectKey): void {
    this.#done.delete(formatKey(key))
  }
}
