/** The seam through which a console observes an operator. Without an observer nothing is compared or kept. */
import type { CustomResourceDefinition, KubeClient, KubeObject } from '@reeve/kube'
import type { Cache } from '../cache/cache.ts'
import type { DescribeWrite } from '../client/reconcile-client.ts'
import type { Controller } from '../controller/controller.ts'
import type { ReconcileRecord } from '../controller/reconcile-record.ts'
import type { Occurrence } from '../events/event-series.ts'
import type { Runnable } from '../lifecycle/runnable.ts'
import type { Manager } from '../manager/manager.ts'
import type { WebhookRoute } from '../webhooks/webhook-route.ts'
import type { DescribedController } from './describe-controller.ts'
import type { OperatorView } from './operator-view.ts'
import type { WebhookLocation } from './webhook-manifests.ts'

/** The parts of an operator that an observer reads. It must not change anything. */
export interface ObservedOperator {
  readonly name: string
  /** Not fenced: works without leadership, for reads and dry runs. */
  readonly client: KubeClient
  readonly cache: Cache
  readonly manager: Pick<Manager, 'leadership' | 'health' | 'readiness'>
  readonly controllers: readonly Pick<Controller<never>, 'name' | 'depth'>[]
  /** As plans need it: new controllers for each call. */
  describe(): readonly DescribedController[]
  crds(location?: WebhookLocation): readonly CustomResourceDefinition[]
  readonly webhooks: readonly WebhookRoute[]
  /** What it shows besides its resources. */
  readonly views: readonly OperatorView[]
}

/** Observes one operator. */
export interface OperatorObserver {
  /** Called once, when the operator is created and before it runs. Returns what runs with it, such as a server. */
  created(operator: ObservedOperator): readonly Runnable[]
  /** Called with every reconcile after its end. */
  reconciled(record: ReconcileRecord): void
  /** Called with every event that the operator records about an object. */
  recorded(object: KubeObject, occurrence: Occurrence): void
  readonly describeWrite: DescribeWrite
}
