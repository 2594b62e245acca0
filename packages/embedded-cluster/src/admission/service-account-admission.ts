/** Sets the service account of every pod and mounts its token into the containers. */

import type { AdmissionAttributes, AdmissionPlugin } from '../api/admission-plugin.ts'
import { forbidden } from '../api/api-errors.ts'
import type { ClusterApi } from '../api/cluster-api.ts'
import type { Clock } from '../clock.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { requestedName } from './namespace-lifecycle.ts'

/** Dependencies of the plug-in. */
export interface ServiceAccountAdmissionOptions {
  readonly api: Pick<ClusterApi, 'get' | 'subscribe'>
  readonly clock: Clock
  /** Numbers from 0 (inclusive) to 1 (exclusive), for the volume's name. */
  readonly random: () => number
}

const VOLUME_PREFIX = 'kube-api-access-'
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'
/** Slightly more than an hour, which the kubelet interprets as "the server's default". */
const TOKEN_SECONDS = 3607
/** How long pods wait for the default account of a new namespace, which is created a moment after it. */
const DEFAULT_ACCOUNT_WAIT_MS = 1000

/** The plug-in ServiceAccount. */
export function createServiceAccountAdmission(options: ServiceAccountAdmissionOptions): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    mutate: async (attributes) => {
      const { resource, operation, subresource, object } = attributes
      const isPod = resource.group === '' && resource.plural === 'pods' && (subresource ?? '') === ''
      if (!isPod || operation !== 'CREATE' || object === undefined) return object
      const spec = objectAt(object, 'spec')
      const denied = (why: string) => forbidden(resource, requestedName(attributes), why)
      const annotations = objectAt(objectAt(object, 'metadata'), 'annotations')
      if (Object.hasOwn(annotations, MIRROR_ANNOTATION)) {
        if ((stringAt(spec, 'serviceAccountName') ?? '') === '') return object
        throw denied('a mirror pod may not reference service accounts')
      }
      const name = stringAt(spec, 'serviceAccountName') || stringAt(spec, 'serviceAccount') || 'default'
      const account = await findAccount(options, attributes, name)
      if (account === undefined) {
        const where = `${attributes.namespace ?? ''}/${name}`
        throw denied(`error looking up service account ${where}: serviceaccount "${name}" not found`)
      }
      return {
        ...object,
        spec: withAccount({ ...spec, serviceAccountName: name, serviceAccount: name }, account, options),
      }
    },
  }
}

async function findAccount(
  { api, clock }: ServiceAccountAdmissionOptions,
  { namespace, signal }: AdmissionAttributes,
  name: string,
): Promise<JsonObject | undefined> {
  const find = () => api.get('serviceaccounts', namespace, name)
  const found = find()
  if (found !== undefined || name !== 'default') return found
  const arrived = Promise.withResolvers<void>()
  const unsubscribe = api.subscribe(({ resource }) => {
    if (resource === 'serviceaccounts' && find() !== undefined) arrived.resolve()
  })
  const timer = clock.schedule(DEFAULT_ACCOUNT_WAIT_MS, arrived.resolve)
  const onAbort = () => arrived.resolve()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await arrived.promise
  } finally {
    unsubscribe()
    timer.cancel()
    signal.removeEventListener('abort', onAbort)
  }
  return find()
}

function withAccount(spec: JsonObject, account: JsonObject, options: ServiceAccountAdmissionOptions): JsonObject {
  const pullSecrets = arrayAt(account, 'imagePullSecrets')
  const withSecrets =
    arrayAt(spec, 'imagePullSecrets').length === 0 && pullSecrets.length > 0
      ? { ...spec, imagePullSecrets: [...pullSecrets] }
      : spec
  const mayMount = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true
  return mayMount === true ? mountToken(withSecrets, options.random) : withSecrets
}

function mountToken(spec: JsonObject, random: () => number): JsonObject {
  const volumes = arrayAt(spec, 'volumes').filter(isJsonObject)
  // Admitting a pod again after a webhook added containers must not add a second volume.
  const existing = volumes
    .map((volume) => stringAt(volume, 'name') ?? '')
    .find((name) => name.startsWith(VOLUME_PREFIX))
  const name = existing ?? VOLUME_PREFIX + suffix(random)
  let isNeeded = false
  const mount = (container: JsonObject): JsonObject => {
    const mounts = arrayAt(container, 'volumeMounts').filter(isJsonObject)
    if (mounts.some((known) => known.mountPath === MOUNT_PATH)) return container
    isNeeded = true
    return { ...container, volumeMounts: [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }] }
  }
  const next: JsonObject = { ...spec }
  for (const field of ['initContainers', 'containers']) {
    const containers = arrayAt(spec, field).filter(isJsonObject)
    if (containers.length > 0) next[field] = containers.map(mount)
  }
  if (isNeeded && existing === undefined) next.volumes = [...volumes, tokenVolume(name)]
  return next
}

function tokenVolume(name: string): JsonObject {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 0o644,
    },
  }
}

function suffix(random: () => number): string {
  return Array.from({ length: 5 }, () => suffixAlphabet[Math.floor(random() * suffixAlphabet.length)]).join('')
}
