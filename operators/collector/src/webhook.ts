/** The webhook that rejects invalid Collectors. */
import type { Problem } from '@reeve/crd'
import type { Namespace } from '@reeve/kube'
import { type AdmissionRequest, allow, deny, validatingWebhook, type WebhookRoute } from '@reeve/runtime'
import { type Collector, Collectors } from './api/collector.ts'
import { releaseKeyOf } from './release-key.ts'
import { type TenancyRules, targetProblem } from './tenancy/target-namespace.ts'
import { completeCollector, type ValidationRules, validateCollector } from './validate-collector.ts'

/** Where the API server finds the webhook. */
export const WEBHOOK_PATH = '/validate'

/** The rules of admission. */
export interface AdmissionRules extends ValidationRules {
  readonly tenancy: TenancyRules
}

/** The Namespace of that name, if there is one. */
export type FindNamespace = (name: string, signal: AbortSignal) => Promise<Namespace | undefined>

/**
 * The route of the webhook server. Collectors that are being deleted are always allowed, so that their finalizer can be
 * removed. So are changes that keep the target: a Collector that is no longer accepted there can still be suspended.
 *
 * @example
 * new WebhookRouter([collectorWebhook({ clusters: ['production'], tenancy }, findNamespace)])
 */
export function collectorWebhook(rules: AdmissionRules, findNamespace: FindNamespace): WebhookRoute {
  const review = async ({ object, oldObject }: AdmissionRequest<Collector>, signal: AbortSignal) => {
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return allow()
    const collector = completeCollector(object)
    const problems = validateCollector(collector, rules)
    if (problems.length > 0) return refuse(collector, problems)
    const { namespace } = releaseKeyOf(collector.spec)
    if (oldObject !== undefined && releaseKeyOf(oldObject.spec).namespace === namespace) return allow()
    const problem = targetProblem(collector, await findNamespace(namespace, signal), rules.tenancy)
    return problem === undefined ? allow() : refuse(collector, [problem])
  }
  return validatingWebhook<Collector>(WEBHOOK_PATH, review, { for: Collectors })
}

function refuse({ metadata }: Collector, problems: readonly Problem[]) {
  const message = problems.map((problem) => `${problem.field}: ${problem.message}`).join('; ')
  return deny(`Collector ${metadata.name ?? ''} is not valid: ${message}`, { code: 422, reason: 'Invalid' })
}
