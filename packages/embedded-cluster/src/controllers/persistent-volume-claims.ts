/**
 * Binds PersistentVolumeClaims to volumes: existing ones that match, otherwise new ones of the claim's storage class.
 */
import type { Lookup } from './cluster-view.ts'
import type { ControllerContext } from './context.ts'
import { isAlreadyExists } from './control-loop.ts'
import { Controller } from './controller.ts'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from './kinds/cluster.ts'
import { isTerminating, keyOf, namespaceOf, type ObjectReference, splitKey } from './kinds/meta.ts'
import { isFinished, type Pod } from './kinds/pods.ts'
import { claimsOf } from './pod-index.ts'
import { amountOf } from './quantities.ts'
import { asObject, jsonEquals, ResourceClient } from './resource-client.ts'
import { selects } from './selectors.ts'
import type { SimulatorController } from './simulator-controller.ts'

const PROTECTION = 'kubernetes.io/pvc-protection'
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class'

/** Whether the volume matches the claim. */
function fits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { spec } = volume
  const wanted = claim.spec
  if (isTerminating(volume) || (spec.storageClassName ?? '') !== (wanted.storageClassName ?? '')) return false
  if ((spec.volumeMode ?? 'Filesystem') !== (wanted.volumeMode ?? 'Filesystem')) return false
  if (wanted.selector !== undefined && !selects(wanted.selector, volume.metadata.labels)) return false
  if (!(wanted.accessModes ?? []).every((mode) => spec.accessModes?.includes(mode))) return false
  return amountOf(spec.capacity?.storage) >= amountOf(wanted.resources?.requests?.storage)
}

function refersTo(reference: ObjectReference | undefined, claim: PersistentVolumeClaim): boolean {
  if (reference?.name !== claim.metadata.name || reference.namespace !== namespaceOf(claim)) return false
  return reference.uid === undefined || reference.uid === claim.metadata.uid
}

class ClaimReconciler {
  readonly #context: ControllerContext
  readonly #claims: ResourceClient<PersistentVolumeClaim>
  readonly #volumes: ResourceClient<PersistentVolume>
  readonly #classes: ResourceClient<StorageClass>
  readonly #byClaim: Lookup<PersistentVolume>

  constructor(context: ControllerContext) {
    this.#context = context
    this.#claims = new ResourceClient(context.api, 'persistentvolumeclaims')
    this.#volumes = new ResourceClient(context.api, 'persistentvolumes')
    this.#classes = new ResourceClient(context.api, 'storageclasses.storage.k8s.io')
    this.#byClaim = context.view.lookup<PersistentVolume>('persistentvolumes', ({ spec }) =>
      spec.claimRef === undefined ? [] : [`${spec.claimRef.namespace}/${spec.claimRef.name}`],
    )
  }

  get claims(): ResourceClient<PersistentVolumeClaim> {
    return this.#claims
  }

  async reconcile(key: string): Promise<undefined> {
    const { namespace, name } = splitKey(key)
    const claim = this.#claims.get(namespace, name)
    for (const volume of this.#byClaim.get(key)) {
      if (claim === undefined || !refersTo(volume.spec.claimRef, claim)) await this.#release(volume)
    }
    if (claim === undefined) return
    if (isTerminating(claim)) await this.#removeProtection(claim)
    else if (claim.status?.phase === 'Bound') await this.#resize(claim)
    else await this.#bind(await this.#withClass(claim))
  }

  /** A claim without a class gets the default one, also when it is created later. */
  async #withClass(claim: PersistentVolumeClaim): Promise<PersistentVolumeClaim> {
    if (claim.spec.storageClassName !== undefined || claim.spec.volumeName !== undefined) return claim
    const standard = this.#classes.list().find(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true')
    if (standard === undefined) return claim
    return this.#claims.update({ ...claim, spec: { ...claim.spec, storageClassName: standard.metadata.name } })
  }

  async #bind(claim: PersistentVolumeClaim): Promise<void> {
    const volume = this.#existing(claim) ?? (await this.#provision(claim))
    if (volume === undefined) {
      await this.#claims.updateStatus(claim, { ...claim.status, phase: 'Pending' })
      return
    }
    await this.#claimVolume(volume, claim)
    const annotations = {
      ...claim.metadata.annotations,
      'pv.kubernetes.io/bind-completed': 'yes',
      ...(claim.spec.volumeName === undefined ? { 'pv.kubernetes.io/bound-by-controller': 'yes' } : {}),
    }
    const { name } = volume.metadata
    const isNamed = claim.spec.volumeName === name && jsonEquals(claim.metadata.annotations, annotations)
    const bound = isNamed
      ? claim
      : await this.#claims.update({
          ...claim,
          metadata: { ...claim.metadata, annotations },
          spec: { ...claim.spec, volumeName: name },
        })
    const { capacity, accessModes } = volume.spec
    await this.#claims.updateStatus(bound, {
      ...bound.status,
      phase: 'Bound',
      ...(accessModes === undefined ? {} : { accessModes }),
      ...(capacity === undefined ? {} : { capacity }),
    })
  }

  /** The volume that the claim names, that is reserved for it, or the smallest that is large enough. */
  #existing(claim: PersistentVolumeClaim): PersistentVolume | undefined {
    const { volumeName } = claim.spec
    if (volumeName !== undefined) {
      const named = this.#volumes.get('', volumeName)
      const isFree = named?.spec.claimRef === undefined || refersTo(named.spec.claimRef, claim)
      return isFree ? named : undefined
    }
    const promised = this.#byClaim.get(keyOf(claim)).find((volume) => refersTo(volume.spec.claimRef, claim))
    if (promised !== undefined) return promised
    const free = this.#volumes.list().filter((volume) => volume.spec.claimRef === undefined && fits(volume, claim))
    const sizeOf = ({ spec }: PersistentVolume) => amountOf(spec.capacity?.storage)
    return free.sort((a, b) => sizeOf(a) - sizeOf(b))[0]
  }

  async #provision(claim: PersistentVolumeClaim): Promise<PersistentVolume | undefined> {
    const { storageClassName = '', volumeName, accessModes, resources, volumeMode } = claim.spec
    const storageClass = this.#classes.get('', storageClassName)
    if (volumeName !== undefined || storageClass === undefined) return undefined
    if (storageClass.provisioner === 'kubernetes.io/no-provisioner') return undefined
    const isWaiting = storageClass.volumeBindingMode === 'WaitForFirstConsumer'
    if (isWaiting && !this.#hasConsumer(claim)) return undefined
    const name = `pvc-${claim.metadata.uid}`
    const existing = this.#volumes.get('', name)
    if (existing !== undefined) return existing
    const storage = resources?.requests?.storage ?? '1Gi'
    try {
      return await this.#volumes.create({
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': storageClass.provisioner } },
        spec: {
          capacity: { storage },
          accessModes: accessModes ?? ['ReadWriteOnce'],
          volumeMode: volumeMode ?? 'Filesystem',
          storageClassName,
          persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
          claimRef: referenceTo(claim),
          hostPath: { path: `/simulated/${name}`, type: '' },
        },
      })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      return this.#volumes.get('', name)
    }
  }

  #hasConsumer(claim: PersistentVolumeClaim): boolean {
    const users = this.#context.pods.usingClaim(namespaceOf(claim), claim.metadata.name)
    return users.some((pod) => pod.spec.nodeName !== undefined)
  }

  async #claimVolume(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    const isOurs = volume.spec.claimRef?.uid === claim.metadata.uid
    const claimed = isOurs
      ? volume
      : await this.#volumes.update({ ...volume, spec: { ...volume.spec, claimRef: referenceTo(claim) } })
    if (claimed.status?.phase !== 'Bound')
      await this.#volumes.updateStatus(claimed, { ...claimed.status, phase: 'Bound' })
  }

  /** The claim is deleted: the volume is deleted too, or kept for manual reclamation. */
  async #release(volume: PersistentVolume): Promise<void> {
    // A volume that is reserved for a claim that does not exist yet was never bound.
    if (volume.spec.claimRef?.uid === undefined) return
    if (volume.spec.persistentVolumeReclaimPolicy === 'Delete') {
      if (!isTerminating(volume)) await this.#volumes.delete(volume)
      await this.#removeFinalizers(volume)
    } else {
      if (volume.status?.phase !== 'Released') {
        await this.#volumes.updateStatus(volume, { ...volume.status, phase: 'Released' })
      }
      if (isTerminating(volume)) await this.#removeFinalizers(volume)
    }
  }

  /** The finalizers protect the claim, which is deleted, and the storage behind the volume, which does not exist. */
  async #removeFinalizers({ metadata: { name, uid } }: PersistentVolume): Promise<void> {
    const live = this.#volumes.get('', name)
    if (live?.metadata.uid !== uid || (live.metadata.finalizers ?? []).length === 0) return
    await this.#volumes.update({ ...live, metadata: { ...live.metadata, finalizers: [] } })
  }

  /** A deleted claim is kept as long as a pod uses it. */
  async #removeProtection(claim: PersistentVolumeClaim): Promise<void> {
    const { finalizers = [], name } = claim.metadata
    const users = this.#context.pods.usingClaim(namespaceOf(claim), name).filter((pod) => !isFinished(pod))
    if (!finalizers.includes(PROTECTION) || users.length > 0) return
    const others = finalizers.filter((finalizer) => finalizer !== PROTECTION)
    await this.#claims.update({ ...claim, metadata: { ...claim.metadata, finalizers: others } })
  }

  /** Expands the volume if more storage was requested and the class allows it. */
  async #resize(claim: PersistentVolumeClaim): Promise<void> {
    const wanted = claim.spec.resources?.requests?.storage
    const volume = this.#volumes.get('', claim.spec.volumeName ?? '')
    if (wanted === undefined || volume === undefined) return
    if (amountOf(wanted) <= amountOf(claim.status?.capacity?.storage)) return
    if (this.#classes.get('', claim.spec.storageClassName ?? '')?.allowVolumeExpansion !== true) return
    const capacity = { ...volume.spec.capacity, storage: wanted }
    await this.#volumes.update({ ...volume, spec: { ...volume.spec, capacity } })
    await this.#claims.updateStatus(claim, {
      ...claim.status,
      capacity: { ...claim.status?.capacity, storage: wanted },
    })
  }
}

function referenceTo(claim: PersistentVolumeClaim): ObjectReference {
  const { name, uid, resourceVersion } = claim.metadata
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace: namespaceOf(claim),
    name,
    uid,
    resourceVersion,
  }
}

/** Keys are those of claims. */
export function createPersistentVolumeClaimController(context: ControllerContext): SimulatorController {
  const reconciler = new ClaimReconciler(context)
  const enqueueUnbound = (enqueue: (key: string) => void) => {
    for (const claim of reconciler.claims.list()) if (claim.status?.phase !== 'Bound') enqueue(keyOf(claim))
  }
  return new Controller(context, {
    name: 'persistent-volume-claims',
    // Concurrent reconciles would find the same volume available.
    concurrency: 1,
    watches: {
      persistentvolumeclaims: ({ object }, enqueue) => enqueue(keyOf(asObject(object))),
      persistentvolumes: ({ type, object }, enqueue) => {
        const { claimRef } = asObject<PersistentVolume>(object).spec
        if (claimRef !== undefined) enqueue(`${claimRef.namespace}/${claimRef.name}`)
        else if (type !== 'DELETED') enqueueUnbound(enqueue)
      },
      'storageclasses.storage.k8s.io': ({ type }, enqueue) => {
        if (type !== 'DELETED') enqueueUnbound(enqueue)
      },
      pods: ({ type, object, previous }, enqueue) => {
        const pod = asObject<Pod>(object)
        const wasBound = previous !== undefined && asObject<Pod>(previous).spec.nodeName !== undefined
        const hasArrived = pod.spec.nodeName !== undefined && !wasBound
        if (type !== 'DELETED' && !hasArrived && !isFinished(pod)) return
        for (const claim of claimsOf(pod)) enqueue(`${namespaceOf(pod)}/${claim}`)
      },
    },
    reconcile: (key) => reconciler.reconcile(key),
  })
}
