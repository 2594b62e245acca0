/** The webhook that changes pods. Thin: it reads what the decision needs, and reports the outcome. */
import { type Clock, untilAborted } from '@reeve/http'
import { isNotFound, type KubeClient, type KubeObject, type Namespace, Namespaces, type Pod } from '@reeve/kube'
import { type AdmissionRequest, type Logger, mutatingWebhook, silentLogger, type WebhookRoute } from '@reeve/runtime'
import type { EventRecorder } from '@reeve/runtime/events'
import { type Metrics, noMetrics } from '@reeve/runtime/metrics'
import { type Approval, type Mutation, plainJsonDiff } from '@reeve/runtime/webhooks'
import { type DynaKube, DynaKubes } from '../../api/latest.ts'
import { INSTANCE_LABEL } from '../../controllers/dynakube/components/injection/map-namespaces.ts'
import { withoutNulls } from '../decode.ts'
import { SharedRead } from '../shared-read.ts'
import { type Decision, decide } from './decision.ts'
import { displayName, type InjectionFacts, type InjectionInput, type InjectionSettings } from './injection-input.ts'
import { KnownCopies } from './known-copies.ts'
import { type InjectionResult, mutatePod, type Outcome } from './mutate-pod.ts'
import { readPod } from './pod-shape.ts'
import { ensureCopies } from './secret-copies.ts'
import { WorkloadLookup } from './workload-lookup.ts'

/** Where the API server sends pods. */
export const INJECT_PATH = '/inject'

/** What one request may take, retries included: the API server waits for 10 s in all. */
const REQUEST_TIMEOUT_MS = 3_000

/** Options of {@link injectRoute}. */
export interface InjectOptions {
  readonly client: KubeClient
  /** The operator's own namespace, where DynaKubes are. */
  readonly namespace: string
  readonly settings: InjectionSettings
  /** The Operator Lifecycle Manager sends pods of all namespaces, those without a DynaKube included. */
  readonly isManagedByOlm: boolean
  readonly events: EventRecorder
  readonly workloads?: WorkloadLookup
  readonly metrics?: Metrics
  readonly logger?: Logger
  readonly clock?: Clock
}

/**
 * The route for pods. Namespaces and DynaKubes are never older than a review, so that a pod which is created after a change
 * of either gets it; the existence of copied Secrets and the owners of owners may be seconds old.
 *
 * *Guarantees*: every response admits the pod. On any failure, the pod is unchanged or gets annotations that name the
 * reason; the message of the response, a log line and a metric say why.
 */
export function injectRoute(options: InjectOptions): WebhookRoute {
  const injector = new Injector(options)
  return mutatingWebhook<Pod>(INJECT_PATH, (request, signal) => injector.handle(request, signal), { failOpen: true })
}

/** Ends the handling of a pod that is not changed. */
class LeftAlone extends Error {
  readonly isError: boolean

  constructor(
    message: string,
    { isError = true, cause }: { readonly isError?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.isError = isError
  }
}

class Injector {
  readonly #options: InjectOptions
  readonly #workloads: WorkloadLookup
  readonly #copies: KnownCopies
  readonly #namespaces: SharedRead<Namespace>
  readonly #dynakubes: SharedRead<DynaKube>
  readonly #count: CountInjection
  readonly #logger: Logger

  constructor(options: InjectOptions) {
    const { client, namespace, metrics, workloads, clock, logger = silentLogger } = options
    const request = { timeoutMs: REQUEST_TIMEOUT_MS }
    this.#options = options
    this.#copies = new KnownCopies(clock)
    this.#namespaces = new SharedRead((name) => client.get(Namespaces, { name }, request))
    this.#dynakubes = new SharedRead((name) => client.get(DynaKubes, { namespace, name }, request))
    this.#workloads = workloads ?? new WorkloadLookup(client, metrics ? { metrics } : {})
    this.#count = injectionCounter(metrics)
    this.#logger = logger.child({ webhook: INJECT_PATH })
  }

  async handle(request: AdmissionRequest<Pod>, signal: AbortSignal): Promise<Mutation | Approval> {
    try {
      return await this.#inject(request, signal)
    } catch (error) {
      // The router responds, and says that time has run out.
      if (signal.aborted) throw error
      const { namespace = '', object } = request
      const name = object === undefined ? '' : displayName(object)
      const message = `the pod ${namespace}/${name} is not injected: ${error instanceof Error ? error.message : error}`
      if (error instanceof LeftAlone && !error.isError) {
        this.#count('skipped', '')
        return { allowed: true, message }
      }
      this.#count('failed', '')
      this.#logger.warn({ err: error, namespace, name }, 'admitted a pod without injection')
      return { allowed: true, message }
    }
  }

  async #inject(request: AdmissionRequest<Pod>, signal: AbortSignal): Promise<Mutation | Approval> {
    const { object, operation, subResource = '', dryRun = false } = request
    if (object === undefined || operation !== 'CREATE' || subResource !== '') return { allowed: true }
    const before = withoutNulls(object)
    const read = readPod(before)
    if ('problem' in read) throw new LeftAlone(`it cannot be read: ${read.problem}`)
    const name = request.namespace ?? before.metadata.namespace ?? ''
    const namespace = await this.#namespaceOf(name, signal)
    const dynakube = await this.#dynakubeOf(namespace, { signal, dryRun })
    const { labels = {}, annotations = {}, uid } = namespace.metadata
    const input = {
      pod: read.pod,
      namespace: { name, labels, annotations },
      dynakube,
      settings: this.#options.settings,
    }
    const decision = decide(input)
    const result = mutatePod(input, decision, await this.#lookUp(input, decision, { signal, dryRun, uid }))
    this.#report(input, decision, result, dryRun)
    const [failure] = result.failures
    const message = failure?.message ?? decision.skipped?.because
    // Against the pod without nulls: an operation that adds a member replaces a null in the same place.
    return { allowed: true, patch: plainJsonDiff(before, result.pod), ...(message !== undefined && { message }) }
  }

  async #namespaceOf(name: string, signal: AbortSignal): Promise<Namespace> {
    try {
      return await untilAborted(this.#namespaces.of(name), signal)
    } catch (cause) {
      throw new LeftAlone(`the namespace could not be read: ${textOf(cause)}`, { cause })
    }
  }

  async #dynakubeOf(
    { metadata }: Namespace,
    { signal, dryRun }: { readonly signal: AbortSignal; readonly dryRun: boolean },
  ): Promise<DynaKube> {
    const { namespace, isManagedByOlm, events } = this.#options
    const name = metadata.labels?.[INSTANCE_LABEL]
    if (!name) {
      if (isManagedByOlm) throw new LeftAlone('injection is not required in its namespace', { isError: false })
      throw new LeftAlone(`its namespace does not have the label ${INSTANCE_LABEL}`)
    }
    try {
      return await untilAborted(this.#dynakubes.of(name), signal)
    } catch (cause) {
      if (isNotFound(cause) && !dryRun) {
        const message = `the namespace ${metadata.name} is labelled with the DynaKube ${name}, which does not exist`
        events.record(referenceTo(namespace, name), { type: 'Warning', reason: 'MissingDynakube', message })
      }
      throw new LeftAlone(`the DynaKube ${namespace}/${name} could not be read: ${textOf(cause)}`, { cause })
    }
  }

  /** Secrets and owners at the same time. */
  async #lookUp(
    { pod, namespace, dynakube }: InjectionInput,
    { injectionSecrets, exporterSecrets, needsWorkload }: Decision,
    {
      signal,
      dryRun,
      uid,
    }: { readonly signal: AbortSignal; readonly dryRun: boolean; readonly uid?: string | undefined },
  ): Promise<InjectionFacts> {
    const copying = {
      client: this.#options.client,
      dynakube,
      namespace: namespace.name,
      dryRun,
      signal,
      ...(uid && { known: { copies: this.#copies, namespaceUid: uid } }),
    }
    const [secrets, workload] = await Promise.all([
      ensureCopies([...injectionSecrets, ...exporterSecrets], copying),
      needsWorkload
        ? this.#workloads.of(pod, namespace.name, { signal }).then(
            (found) => ({ workload: found }),
            (error: unknown) => {
              signal.throwIfAborted()
              return { workloadProblem: textOf(error) }
            },
          )
        : {},
    ])
    return { secrets, ...workload }
  }

  #report(
    { pod, namespace, dynakube }: InjectionInput,
    decision: Decision,
    result: InjectionResult,
    dryRun: boolean,
  ): void {
    if (dryRun) return
    const { outcome, failures, event } = result
    const [failure] = failures
    this.#count(outcome, failure?.reason ?? '')
    const fields = { namespace: namespace.name, name: displayName(pod), dynakube: dynakube.metadata.name, outcome }
    for (const { reason, message } of failures) {
      this.#logger.warn({ ...fields, reason, message }, 'admitted a pod without all that it should get')
    }
    if (failures.length === 0) this.#logger.debug({ ...fields, because: decision.skipped?.because }, 'admitted a pod')
    if (event === undefined) return
    const { generateName, name } = pod.metadata
    const action = event === 'Inject' ? 'injecting into pods' : 'updating pods'
    const message = `${action} ${generateName || name || ''} in namespace ${namespace.name}`
    this.#options.events.record(dynakube, { type: 'Normal', reason: event, message })
  }
}

/** A DynaKube that does not exist, so that its event is found where users look for it. */
const referenceTo = (namespace: string, name: string): KubeObject => ({
  apiVersion: `${DynaKubes.group}/${DynaKubes.version}`,
  kind: DynaKubes.kind,
  metadata: { namespace, name },
})

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Counts one pod. `reason` is empty, or one of those that annotations name. */
type CountInjection = (result: Outcome | 'failed', reason: string) => void

/** Declares `dynatrace_webhook_injections_total{result,reason}`; both labels have a bounded set of values. */
function injectionCounter(metrics: Metrics = noMetrics): CountInjection {
  const pods = metrics.counter({
    name: 'dynatrace_webhook_injections_total',
    help: 'Pods reviewed for injection, by outcome and reason.',
    labels: ['result', 'reason'],
  })
  return (result, reason) => pods.inc({ result, reason })
}
