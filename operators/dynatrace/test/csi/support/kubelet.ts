/** The part of a kubelet that deals with CSI plugins: finds them by their registration sockets, and mounts volumes of pods. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../support/until.ts'
import { csiClient, type Outcome } from './csi-client.ts'

/** A pod with one inline volume. */
export interface KubeletPod {
  readonly uid: string
  readonly name: string
  readonly namespace: string
  readonly driver: string
  readonly attributes: Readonly<Record<string, string>>
}

/** Makes a pod. */
export function kubeletPod(name: string, attributes: Readonly<Record<string, string>>): KubeletPod {
  return { uid: randomUUID(), name, namespace: 'shop', driver: 'csi.oneagent.dynatrace.com', attributes }
}

const VOLUME = 'oneagent-bin'
const RETRY_MS = 50

/** A kubelet with its directory. */
export class Kubelet {
  readonly root: string
  /** Sockets of plugins by name. */
  readonly plugins = new Map<string, string>()
  /** Why publishing failed, oldest first: the events of a pod. */
  readonly failures: Outcome[] = []

  constructor(root: string) {
    this.root = root
  }

  /** Where plugins announce themselves. */
  get registry(): string {
    return join(this.root, 'plugins_registry')
  }

  /** Where a container finds its volume. */
  target(pod: KubeletPod): string {
    return join(this.#volume(pod), 'mount')
  }

  /** Looks for sockets once: registers what is new, forgets what is gone. */
  async scan(): Promise<void> {
    const sockets = (await readdir(this.registry)).filter((name) => name.endsWith('-reg.sock'))
    const found = new Set<string>()
    for (const socket of sockets) {
      using client = csiClient(join(this.registry, socket))
      const info = await client.call('pluginregistration.Registration/GetInfo')
      // The fields of a plugin, as protobufjs decodes them.
      const {
        type,
        name,
        endpoint,
        supported_versions: versions = [],
      } = ('response' in info ? info.response : {}) as {
        type?: string
        name?: string
        endpoint?: string
        supported_versions?: readonly string[]
      }
      if (type !== 'CSIPlugin' || !name || !endpoint) continue
      const isSupported = versions.some((version) => version.startsWith('v1.'))
      const error = isSupported ? await this.#validate(name, endpoint) : 'no supported version'
      const status = { plugin_registered: error === undefined, ...(error !== undefined && { error }) }
      await client.call('pluginregistration.Registration/NotifyRegistrationStatus', status)
      if (error !== undefined) continue
      this.plugins.set(name, endpoint)
      found.add(name)
    }
    for (const name of this.plugins.keys()) if (!found.has(name)) this.plugins.delete(name)
  }

  /** Mounts the volume of a pod, trying again until it succeeds; the containers would start then. */
  async start(pod: KubeletPod): Promise<void> {
    await mkdir(this.#volume(pod), { recursive: true })
    await writeFile(join(this.#volume(pod), 'vol_data.json'), JSON.stringify({ volumeHandle: volumeId(pod) }))
    await until(`the volume of ${pod.name}`, async () => {
      const outcome = await this.#call(pod.driver, 'csi.v1.Node/NodePublishVolume', {
        volume_id: volumeId(pod),
        target_path: this.target(pod),
        volume_capability: { mount: {}, access_mode: { mode: 1 } },
        readonly: true,
        volume_context: {
          ...pod.attributes,
          'csi.storage.k8s.io/pod.name': pod.name,
          'csi.storage.k8s.io/pod.namespace': pod.namespace,
          'csi.storage.k8s.io/pod.uid': pod.uid,
          'csi.storage.k8s.io/serviceAccount.name': 'default',
          'csi.storage.k8s.io/ephemeral': 'true',
        },
      })
      if ('response' in outcome) return true
      this.failures.push(outcome)
      await pause(RETRY_MS)
      return false
    })
  }

  /** Takes the volume away and removes the directories of the pod. */
  async stop(pod: KubeletPod): Promise<void> {
    const request = { volume_id: volumeId(pod), target_path: this.target(pod) }
    await until(`the end of ${pod.name}`, async () => {
      const outcome = await this.#call(pod.driver, 'csi.v1.Node/NodeUnpublishVolume', request)
      if ('response' in outcome) return true
      await pause(RETRY_MS)
      return false
    })
    // Fails if something is still mounted, as in a kubelet.
    await rmdir(this.target(pod)).catch(() => undefined)
    await rm(join(this.#volume(pod), 'vol_data.json'))
    await rmdir(this.#volume(pod))
    await rm(join(this.root, 'pods', pod.uid), { recursive: true })
  }

  async #validate(name: string, endpoint: string): Promise<string | undefined> {
    using client = csiClient(endpoint)
    const info = await client.call('csi.v1.Node/NodeGetInfo')
    return 'response' in info ? undefined : `${name}: ${info.details}`
  }

  /** A connection per call, as a kubelet does it. */
  async #call(driver: string, method: string, request: object): Promise<Outcome> {
    const endpoint = this.plugins.get(driver)
    if (endpoint === undefined)
      return { code: 14, details: `driver name ${driver} not found in the list of registered CSI drivers` }
    using client = csiClient(endpoint)
    return await client.call(method, request)
  }

  #volume({ uid }: KubeletPod): string {
    return join(this.root, 'pods', uid, 'volumes/kubernetes.io~csi', VOLUME)
  }
}

/** The same for a pod as long as it lives. */
function volumeId({ uid }: KubeletPod): string {
  return `csi-${createHash('sha256').update(`${uid}${VOLUME}`).digest('hex')}`
}
