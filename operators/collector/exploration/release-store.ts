/** Where the simulated Helm leaves its traces: records and objects in a cluster. */
import { HELM_FIELD_MANAGER, type Release, type ReleaseKey, readReleases } from '@reeve/helm'
import { encodeRelease, releaseSecretName } from '@reeve/helm/testing'
import {
  ConfigMaps,
  Deployments,
  isNotFound,
  type KubeClient,
  type Resource,
  Secrets,
  Services,
  type UnknownObject,
} from '@reeve/kube'

/** The kinds that the sample chart renders. */
export const SAMPLE_KINDS = [Secrets, ConfigMaps, Services, Deployments] as const

/** What Helm puts on every object that it makes. */
export const MADE_BY_HELM = { 'app.kubernetes.io/managed-by': 'Helm' } as const

/** Releases of one cluster. Nothing is kept here: what counts is in the cluster, as with Helm. */
export class ReleaseStore {
  readonly #client: KubeClient

  constructor(client: KubeClient) {
    this.#client = client
  }

  /** Every revision, oldest first. */
  history(release: ReleaseKey): Promise<readonly Release[]> {
    return readReleases(this.#client, release)
  }

  /** Writes the record of a revision; Helm creates it once and updates it from then on. */
  async record(release: Release, how: 'create' | 'update'): Promise<void> {
    const secret = encodeRelease(release)
    if (how === 'create') await this.#client.create(Secrets, secret)
    else await this.#client.update(Secrets, secret)
  }

  /** Deletes a revision. */
  async purge({ namespace, name, revision }: Release): Promise<void> {
    await ignoreMissing(this.#client.delete(Secrets, { namespace, name: releaseSecretName(name, revision) }))
  }

  /** Creates an object or updates it to what is rendered. */
  async apply(release: ReleaseKey, object: UnknownObject): Promise<void> {
    const { namespace, name } = release
    const annotations = { 'meta.helm.sh/release-name': name, 'meta.helm.sh/release-namespace': namespace }
    const metadata = { ...object.metadata, namespace, annotations, labels: MADE_BY_HELM }
    await this.#client.apply(
      resourceOf(object),
      { ...object, metadata },
      { force: true, fieldManager: HELM_FIELD_MANAGER },
    )
  }

  /** Deletes an object; a missing one is fine. */
  async remove({ namespace }: ReleaseKey, object: UnknownObject): Promise<void> {
    const { name = '' } = object.metadata
    await ignoreMissing(this.#client.delete(resourceOf(object), { namespace, name }))
  }
}

function resourceOf({ kind }: UnknownObject): Resource<UnknownObject> {
  const found = SAMPLE_KINDS.find((resource) => resource.kind === kind)
  if (found === undefined) throw new Error(`the sample chart renders no ${kind}`)
  // The union of resources is written as one of plain objects.
  return found as Resource<UnknownObject>
}

async function ignoreMissing(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}
