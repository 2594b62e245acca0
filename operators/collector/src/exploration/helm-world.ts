/** Where the simulated Helm leaves its traces: records and objects in the cluster, and a view of both to compare. */
import { decodeRelease, type Release, type ReleaseKey, readReleases } from '@reeve/helm'
import { encodeRelease, releaseSecretName } from '@reeve/helm/testing'
import {
  type Clock,
  ConfigMaps,
  Deployments,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Resource,
  type Secret,
  Secrets,
  Services,
  type Stored,
  type UnknownObject,
} from '@reeve/kube'
import type { OutsidePlace, OutsideWorld, PlainObject } from '@reeve/simulation'

/** The kinds that the sample chart renders. */
const KINDS = [Secrets, ConfigMaps, Services, Deployments] as const

const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'Helm' }

/** Who owns the fields of what Helm applies. */
const FIELD_MANAGER = 'helm'

/** Releases of one simulated cluster. Nothing is kept here but a view: what counts is in the cluster, as with Helm. */
export class HelmWorld implements OutsideWorld {
  readonly clock: Clock
  readonly #client: KubeClient
  /** By kind and key; fed by watches, so that it shows what others do to the cluster, too. */
  readonly #seen = new Map<string, KubeObject>()

  constructor({ client, clock }: Pick<OutsidePlace, 'client' | 'clock'>) {
    this.clock = clock
    this.#client = client
    for (const resource of KINDS) {
      // The mirror looks at what all objects have, and at the kind.
      void this.#follow(resource as Resource<KubeObject>)
    }
  }

  /**
   * Each release by its newest revision, and each object that is there. Numbers and descriptions of revisions tell of the
   * way, which differs between two good runs.
   */
  state(): Readonly<Record<string, PlainObject>> {
    const state: Record<string, PlainObject> = {}
    for (const [id, object] of [...this.#seen].toSorted(([one], [other]) => one.localeCompare(other))) {
      const { labels = {}, annotations } = object.metadata
      if (labels.owner === 'helm') {
        // The selector of Helm's records leaves nothing but Secrets.
        const { namespace, name, revision, status, values, labels: marks } = decodeRelease(object as Secret)
        // In order of their ids a revision with two digits may come before one with one.
        const before = state[`release ${namespace}/${name}`]
        if (Number(before?.revision ?? 0) < revision) {
          state[`release ${namespace}/${name}`] = { revision, status, values, marks }
        }
      } else if (labels['app.kubernetes.io/managed-by'] === 'Helm') {
        const { spec, data } = object as UnknownObject
        // The addresses of a Service are drawn by the server.
        const { clusterIP: _drawn, clusterIPs: _alike, ...lasting } = (spec ?? {}) as PlainObject
        state[id] = { annotations, data, spec: lasting }
      }
    }
    return Object.fromEntries(
      Object.entries(state).map(([id, { revision: _way, ...rest }]): [string, PlainObject] => [id, rest]),
    )
  }

  /** Every revision, oldest first. */
  history(release: ReleaseKey): Promise<readonly Release[]> {
    return readReleases(this.#client, release)
  }

  /** Writes the record of a revision; Helm creates it once and updates it from then on. */
  async record(release: Release, how: 'create' | 'update'): Promise<void> {
    const secret = encodeRelease(release)
    if (how === 'create') await this.#client.create(Secrets, secret)
    else await this.#client.update(Secrets, { ...secret, metadata: { ...secret.metadata } })
  }

  async purge({ namespace, name, revision }: Release): Promise<void> {
    await ignoreMissing(this.#client.delete(Secrets, { namespace, name: releaseSecretName(name, revision) }))
  }

  /** Creates an object or brings it to what is rendered. Foreign objects are refused, as Helm refuses them. */
  async apply(release: ReleaseKey, object: UnknownObject): Promise<void> {
    const { namespace, name } = release
    const annotations = { 'meta.helm.sh/release-name': name, 'meta.helm.sh/release-namespace': namespace }
    const metadata = { ...object.metadata, namespace, annotations, labels: MANAGED_BY }
    await this.#client.apply(resourceOf(object), { ...object, metadata }, { force: true, fieldManager: FIELD_MANAGER })
  }

  async remove({ namespace }: ReleaseKey, object: UnknownObject): Promise<void> {
    const { name = '' } = object.metadata
    await ignoreMissing(this.#client.delete(resourceOf(object), { namespace, name }))
  }

  /** The server ends streams from time to time; one that ends at once has ended with its world. */
  async #follow(resource: Resource<KubeObject>): Promise<void> {
    const idOf = ({ metadata: { namespace, name } }: Stored<KubeObject>) => `${resource.kind} ${namespace}/${name}`
    for (let startedMs = Number.NaN; startedMs !== this.clock.now(); ) {
      startedMs = this.clock.now()
      try {
        for await (const { type, object } of this.#client.watch(resource)) {
          if (type === 'BOOKMARK') continue
          if (type === 'DELETED') this.#seen.delete(idOf(object))
          else this.#seen.set(idOf(object), object)
        }
      } catch {
        // A stream that breaks is asked for again, as one that ends is.
      }
    }
  }
}

function resourceOf({ kind }: UnknownObject): Resource<UnknownObject> {
  const found = KINDS.find((resource) => resource.kind === kind)
  if (found === undefined) throw new Error(`the sample chart renders no ${kind}`)
  // The union of resources is written as one of plain objects.
  return found as Resource<UnknownObject>
}

async function ignoreMissing(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}
