/** The built-in admission plug-ins, in the order they run. */

import type { AdmissionPlugin } from '../api/admission-plugin.ts'
import type { ClusterApi } from '../api/cluster-api.ts'
import type { Clock } from '../clock.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { createLimitRanger } from './limit-ranger.ts'
import { createNamespaceLifecycle } from './namespace-lifecycle.ts'
import { createPriority } from './priority.ts'
import { createServiceAccountAdmission } from './service-account-admission.ts'

/** Dependencies of the built-in plug-ins. */
export interface BuiltInAdmissionOptions {
  readonly api: Pick<ClusterApi, 'get' | 'list' | 'subscribe'>
  readonly clock: Clock
  /** Numbers from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
}

/**
 * The plug-ins every cluster runs before its webhooks. Pass the same list to the webhooks as `reinvoked`, so that the
 * plug-ins process changes made by webhooks.
 *
 * @example
 * const builtIns = createBuiltInAdmission({ api, clock, random: Math.random })
 * const webhooks = createWebhookAdmission({ api, client, reinvoked: builtIns })
 * const admission = [...builtIns, webhooks]
 */
export function createBuiltInAdmission(options: BuiltInAdmissionOptions): readonly AdmissionPlugin[] {
  return [
    createNamespaceLifecycle(options.api),
    createServiceAccountAdmission(options),
    createPriority(options.api),
    defaultTolerationSeconds,
    createLimitRanger(options.api),
  ]
}
