/** Fuzzes reviews of pods: whatever comes, the webhook admits it, and its patch can be read. */
import { attemptAsync, broken, fuzz, jsonOf, jsonValue } from '@reeve/fuzz'
import type { KubeClient } from '@reeve/kube'
import { BadReviewError, WebhookRouter } from '@reeve/runtime/webhooks'
import fc from 'fast-check'
import { injectRoute } from '../src/webhooks/pods/inject.ts'
import { arbitraryInjection } from '../src/webhooks/pods/testing/arbitrary-injection.ts'
import { readyDynaKube } from '../src/webhooks/pods/testing/build.ts'

const dynakube = readyDynaKube({
  oneAgent: { applicationMonitoring: {} },
  metadataEnrichment: { enabled: true },
  otlpExporterConfiguration: { signals: { traces: {}, metrics: {}, logs: {} } },
})
const labels = { 'dynakube.internal.dynatrace.com/instance': 'dk' }
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } }

/** A cluster that has everything that it is asked for. */
const cluster = {
  get: async ({ kind }: { readonly kind: string }) => (kind === 'DynaKube' ? dynakube : namespace),
  create: async () => ({}),
} as unknown as KubeClient // the webhook only gets and creates

const route = injectRoute({
  client: cluster,
  namespace: 'dynatrace',
  settings: { image: 'operator:1', operatorVersion: '1', hasCsiDriver: true, isOpenShift: false },
  isManagedByOlm: false,
  events: { record: () => undefined },
})

const pods = fc.oneof(
  { weight: 4, arbitrary: arbitraryInjection.map(({ input }) => input.pod) },
  { weight: 1, arbitrary: jsonValue },
)

fuzz('pod-review', {
  inputs: jsonOf({
    apiVersion: fc.constant('admission.k8s.io/v1'),
    kind: fc.constant('AdmissionReview'),
    request: fc.record({
      uid: fc.constant('u'),
      kind: fc.constant({ group: '', version: 'v1', kind: 'Pod' }),
      resource: fc.constant({ group: '', version: 'v1', resource: 'pods' }),
      operation: fc.constant('CREATE'),
      namespace: fc.constant('shop'),
      object: pods,
    }),
  }),
  dictionary: [
    'spec',
    'metadata',
    'annotations',
    'containers',
    'initContainers',
    'ownerReferences',
    'controller',
    'volumeMounts',
    'securityContext',
    'runAsUser',
    'env',
    'valueFrom',
    'LD_PRELOAD',
    'OTEL_RESOURCE_ATTRIBUTES',
    'metadata.dynatrace.com/a',
    'volume.dynatrace.com/oneagent-bin',
    'container.inject.dynatrace.com/app',
    '1e99999999',
  ],
  isJson: true,
  async run(input) {
    const router = new WebhookRouter([route])
    const answered = await attemptAsync(() => router.handleBytes(route.path, input), BadReviewError)
    if (answered !== undefined) checkAnswer(answered.value)
  },
})

/** The webhook admits pods even when its code is wrong, and repeats the error. */
const EXCEPTION = /Cannot |is not (a function|iterable|a constructor)|internal webhook error|stack size/

interface Answer {
  readonly response?: {
    readonly allowed?: boolean
    readonly patch?: string
    readonly status?: { readonly message?: string }
  }
}

function checkAnswer(answer: object): void {
  const { response } = answer as Answer
  if (response?.allowed !== true) throw broken('a pod is admitted', answer)
  const { message = '' } = response.status ?? {}
  if (EXCEPTION.test(message)) throw broken('injection does not throw', answer)
  const operations: unknown = JSON.parse(Buffer.from(response.patch ?? 'W10=', 'base64').toString())
  if (!Array.isArray(operations)) throw broken('a patch is a list', answer)
}
