/** Makes sure that the webhook server has a certificate and that the API server trusts it. */
import type { Clock } from '@reeve/http'
import {
  apiVersionOf,
  type Deployment,
  isNotFound,
  type KubeClient,
  type Secret,
  Secrets,
  type Stored,
} from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import { type InjectionResult, injectCaBundle } from '@reeve/runtime/certificates'
import { controllerReference } from '@reeve/runtime/owner-references'
import { DynaKubeCrd } from '../../api/dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from '../../api/edgeconnect/edgeconnect-crd.ts'
import { CERTIFICATES_SECRET, WEBHOOK_NAME, webhookHost } from '../../installed-names.ts'
import { CERTIFICATE_KEYS, type CertificateData, renewCertificates, trustBundle } from './certificate-data.ts'

/** What a reconcile works with. */
export interface CertificatesDependencies {
  readonly client: KubeClient
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** The bundle of authorities could not be written where it has to be. Tried again by the controller. */
class CaBundleError extends Error {
  readonly code = 'CA_BUNDLE_NOT_WRITTEN'
  override readonly name = 'CaBundleError'
}

const CRD_TARGET = `CustomResourceDefinition ${DynaKubeCrd.name}`

/**
 * One reconcile, from any state; it writes nothing if everything is as desired.
 *
 * *Guarantees*: as long as the content of the Secret is accepted by any client, a new authority is published to the API
 * server before a certificate of it can be served; after a crash in between both are valid. Where there is nothing to
 * lose the Secret comes first, because the webhook server waits for it.
 *
 * *Errors*: {@link CaBundleError} when the CRD of DynaKubes is missing or a bundle cannot be written. Missing webhook
 * configurations are fine: creating them later causes another reconcile, or the next one finds them.
 */
export async function ensureCertificates(
  deployment: Stored<Deployment>,
  dependencies: CertificatesDependencies,
): Promise<void> {
  const { client, clock, logger, signal } = dependencies
  const namespace = deployment.metadata.namespace ?? ''
  const secret = await readSecret(client, namespace, signal)
  const { data, renewed, wasUsable } = await renewCertificates(decode(secret), webhookHost(namespace), clock.now())
  const isAnnouncedFirst = renewed === 'authority' && wasUsable
  if (isAnnouncedFirst) await distribute(trustBundle(data), dependencies)
  await writeSecret(deployment, secret, data, dependencies)
  if (renewed !== 'nothing') logger.info({ secretName: CERTIFICATES_SECRET, renewed }, 'renewed webhook certificates')
  if (!isAnnouncedFirst) await distribute(trustBundle(data), dependencies)
}

async function readSecret(client: KubeClient, namespace: string, signal: AbortSignal) {
  try {
    return await client.get(Secrets, { namespace, name: CERTIFICATES_SECRET }, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

async function writeSecret(
  owner: Stored<Deployment>,
  current: Stored<Secret> | undefined,
  texts: CertificateData,
  { client, signal }: CertificatesDependencies,
): Promise<void> {
  const reference = controllerReference(owner)
  const data = encode(texts)
  if (current === undefined) {
    const { namespace = '' } = owner.metadata
    const metadata = { namespace, name: CERTIFICATES_SECRET, ownerReferences: [reference] }
    const secret: Secret = { apiVersion: apiVersionOf(Secrets), kind: Secrets.kind, metadata, type: 'Opaque', data }
    await client.create(Secrets, secret, { signal })
    return
  }
  const references = current.metadata.ownerReferences ?? []
  const isOwned = references.some(({ uid, controller }) => uid === reference.uid && controller === true)
  if (isOwned && CERTIFICATE_KEYS.every((key) => current.data?.[key] === data[key])) return
  // A Deployment that was deleted and installed again is another owner; the reference to the former one goes.
  const others = references.filter(({ uid, controller }) => uid !== reference.uid && controller !== true)
  const metadata = { ...current.metadata, ownerReferences: [...others, reference] }
  await client.update(Secrets, { ...current, metadata, data: { ...current.data, ...data } }, { signal })
}

async function distribute(bundle: string, { client, logger, signal }: CertificatesDependencies): Promise<void> {
  const targets = {
    mutating: [WEBHOOK_NAME],
    validating: [WEBHOOK_NAME],
    customResourceDefinitions: [DynaKubeCrd.name, EdgeConnectCrd.name],
  }
  const results = await injectCaBundle(client, bundle, targets, { signal, verb: 'update' })
  for (const { target, outcome } of results) {
    if (outcome === 'patched') logger.info({ target }, 'wrote the CA bundle')
  }
  const missing = results.filter(isMissing)
  if (missing.length > 0)
    logger.debug({ missing: missing.map(({ target }) => target) }, 'webhook configurations not found')
  const [failure] = results.filter(
    (result) => result.outcome === 'failed' && (!isMissing(result) || result.target === CRD_TARGET),
  )
  if (failure === undefined) return
  throw new CaBundleError(`the bundle of authorities could not be written into ${failure.target}`, {
    cause: failure.error,
  })
}

const isMissing = ({ error }: InjectionResult) => isNotFound(error)

function decode(secret: Secret | undefined): Partial<CertificateData> {
  const entries = CERTIFICATE_KEYS.map((key) => [key, secret?.data?.[key]] as const)
  return Object.fromEntries(
    entries.flatMap(([key, value]) => (value ? [[key, Buffer.from(value, 'base64').toString('utf8')]] : [])),
  )
}

function encode(data: CertificateData): Record<string, string> {
  return Object.fromEntries(CERTIFICATE_KEYS.map((key) => [key, Buffer.from(data[key]).toString('base64')]))
}
