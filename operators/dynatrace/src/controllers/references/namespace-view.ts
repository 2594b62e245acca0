/** What the cache shows of the namespace of a DynaKube. */
import { ConfigMaps, Deployments, Secrets, Services, StatefulSets } from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import { decodeSecret, type SecretData } from '../rendering/secret-data.ts'

/** Reads by name, without a request. */
export class NamespaceView {
  readonly namespace: string
  readonly #cache: CacheReader

  constructor(cache: CacheReader, namespace: string) {
    this.#cache = cache
    this.namespace = namespace
  }

  /** The decoded data of a Secret. */
  secret(name: string): SecretData | undefined {
    const secret = this.#cache.get(Secrets, { namespace: this.namespace, name })
    return secret && decodeSecret(secret.data)
  }

  /** When a Secret was made, in milliseconds. */
  secretCreatedMs(name: string): number | undefined {
    const time = this.#cache.get(Secrets, { namespace: this.namespace, name })?.metadata.creationTimestamp
    return time === undefined ? undefined : Date.parse(time)
  }

  configMap(name: string): Readonly<Record<string, string>> | undefined {
    const configMap = this.#cache.get(ConfigMaps, { namespace: this.namespace, name })
    return configMap && (configMap.data ?? {})
  }

  /** The addresses of a Service; empty while it has none. */
  serviceIPs(name: string): readonly string[] {
    const { clusterIPs, clusterIP } = this.#cache.get(Services, { namespace: this.namespace, name })?.spec ?? {}
    return clusterIPs ?? (clusterIP === undefined ? [] : [clusterIP])
  }

  /** How many pods a Deployment is meant to have. */
  replicas(name: string): number | undefined {
    return this.#cache.get(Deployments, { namespace: this.namespace, name })?.spec?.replicas
  }

  /** How many pods a StatefulSet is meant to have. */
  statefulSetReplicas(name: string): number | undefined {
    return this.#cache.get(StatefulSets, { namespace: this.namespace, name })?.spec?.replicas
  }
}
