/** The controllers of a cluster: the simulated equivalent of kube-controller-manager, kube-scheduler and kubelets. */
import { setImmediate } from 'node:timers/promises'
import type { ClusterApi } from '../api/cluster-api.ts'
import { type Clock, systemClock } from '../clock.ts'
import { createContext } from './context.ts'
import type { OnError } from './control-loop.ts'
import { createCronJobController } from './cron-jobs.ts'
import { createCsiNodeController } from './csi-nodes.ts'
import { createDaemonSetController } from './daemon-sets.ts'
import { DEFAULT_KUBELET_SETTINGS, DEFAULT_NODES } from './defaults.ts'
import { createDeploymentController } from './deployments.ts'
import { createEndpointsController } from './endpoints.ts'
import { GarbageCollector } from './garbage-collector.ts'
import { createJobController } from './jobs.ts'
import type { KubeletSettings } from './kubelet/pod-behaviour.ts'
import { createKubelet } from './kubelet.ts'
import { createLoadBalancerController } from './load-balancers.ts'
import { NamespaceController } from './namespaces.ts'
import { createNodeHeartbeatController } from './node-heartbeats.ts'
import { createNodeController, type SimulatedNode, simulatedNodes } from './nodes.ts'
import { createPersistentVolumeClaimController } from './persistent-volume-claims.ts'
import { createPodDisruptionBudgetController } from './pod-disruption-budgets.ts'
import { createPodGarbageCollector } from './pod-garbage-collector.ts'
import { createReplicaSetController, createReplicationControllerController } from './replica-sets.ts'
import { ResourceQuotaController } from './resource-quotas.ts'
import { createScheduler } from './scheduler.ts'
import { createServiceAccountController } from './service-accounts.ts'
import type { SimulatorController } from './simulator-controller.ts'
import { createStatefulSetController } from './stateful-sets.ts'
import { createStorageClassController } from './storage-classes.ts'
import { createTaintEvictionController } from './taint-evictions.ts'

/** Options of {@link createControllers}. */
export interface ControllersOptions extends Partial<KubeletSettings> {
  /** @default the system clock */
  readonly clock?: Clock
  /**
   * Numbers in [0, 1), for jitter of retries.
   * @default Math.random
   */
  readonly random?: () => number
  /** The number of nodes, or the nodes. @default 3 */
  readonly nodes?: number | readonly SimulatedNode[]
  /** PEM of the certificate that clients in the cluster trust, for the ConfigMap `kube-root-ca.crt`. @default '' */
  readonly rootCertificate?: string
  /**
   * Whether to record Events.
   * @default true
   */
  readonly recordEvents?: boolean
  /** How often nodes renew their Leases. @default never */
  readonly heartbeatIntervalMs?: number
  /** Called when work failed and will be retried. @default failures are not reported */
  readonly onError?: OnError
}

/**
 * All controllers, in the order in which they must be started. Stop them in any order.
 *
 * @example
 * const controllers = createControllers(cluster.api, { clock, nodes: 2, podStartDelayMs: 0 })
 * for (const controller of controllers) controller.start()
 * await Promise.all(controllers.map((controller) => controller.stop()))
 */
export function createControllers(api: ClusterApi, options: ControllersOptions = {}): SimulatorController[] {
  const { clock = systemClock, random = Math.random, nodes = DEFAULT_NODES } = options
  const { rootCertificate = '', recordEvents = true, onError = () => undefined } = options
  const { heartbeatIntervalMs } = options
  // A simulated clock stands still until all work is done, so only the system clock has to yield to the rest of the
  // process.
  const yieldToProcess = clock === systemClock ? () => setImmediate() : undefined
  const context = createContext(api, { clock, random, onError, yieldToProcess, recordEvents })
  const settings = { ...DEFAULT_KUBELET_SETTINGS, ...options }
  const controllers: SimulatorController[] = [
    new GarbageCollector(context),
    new NamespaceController(context),
    createServiceAccountController(context, rootCertificate),
    createNodeController(context, typeof nodes === 'number' ? simulatedNodes(nodes) : nodes),
    createScheduler(context),
    createKubelet(context, settings),
    createCsiNodeController(context),
    createTaintEvictionController(context),
    createPodGarbageCollector(context),
    createReplicaSetController(context),
    createReplicationControllerController(context),
    createDeploymentController(context),
    createStatefulSetController(context),
    createDaemonSetController(context),
    createJobController(context),
    createCronJobController(context),
    createEndpointsController(context),
    createLoadBalancerController(context),
    createStorageClassController(context),
    createPersistentVolumeClaimController(context),
    createPodDisruptionBudgetController(context),
    new ResourceQuotaController(context),
  ]
  if (heartbeatIntervalMs !== undefined) controllers.push(createNodeHeartbeatController(context, heartbeatIntervalMs))
  return [context.view, ...controllers]
}
