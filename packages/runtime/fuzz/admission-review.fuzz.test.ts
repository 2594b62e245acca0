/** Fuzzes the reviews that a webhook server gets for validation, mutation and conversion. */
import { attemptAsync, broken, fuzz, jsonOf, jsonValue, sameJson, textOf } from '@reeve/fuzz'
import type { KubeObject } from '@reeve/kube'
import fc from 'fast-check'
import { type Logger, silentLogger } from '../src/logging/logger.ts'
import { allow, deny, mutate } from '../src/webhooks/admission-review.ts'
import { mutatingWebhook, validatingWebhook } from '../src/webhooks/admission-webhook.ts'
import { conversionWebhook } from '../src/webhooks/conversion-webhook.ts'
import { BadReviewError } from '../src/webhooks/webhook-route.ts'
import { WebhookRouter } from '../src/webhooks/webhook-router.ts'

/** The router responds for a handler that fails; here its error is tested. */
function failureLog(): { readonly logger: Logger; readonly failures: unknown[] } {
  const failures: unknown[] = []
  const error = (fields: object) => failures.push('err' in fields ? fields.err : fields)
  return { failures, logger: { ...silentLogger, error } }
}

const routes = [
  validatingWebhook('/validate', ({ object }) => (object?.metadata.name === 'bad' ? deny('spec: no') : allow(['w']))),
  mutatingWebhook('/mutate', ({ object }) =>
    object === undefined ? allow() : mutate({ ...object, metadata: { ...object.metadata, labels: { added: 'yes' } } }),
  ),
  conversionWebhook('/convert', [
    {
      group: 'example.com',
      kind: 'Widget',
      convert: (object: KubeObject) => ({ ...object, metadata: { ...object.metadata } }),
    },
  ]),
]

const metadata = fc.oneof(
  fc.constantFrom({ name: 'a', namespace: 'b' }, { name: 'bad', labels: { x: 'y' } }),
  jsonValue,
)
const object = fc.record({
  apiVersion: fc.constant('example.com/v1'),
  kind: fc.constant('Widget'),
  metadata,
  spec: jsonValue,
})
const request = fc.record(
  {
    uid: fc.constant('u'),
    kind: fc.constant({ group: 'example.com', version: 'v1', kind: 'Widget' }),
    resource: fc.constant({ group: 'example.com', version: 'v1', resource: 'widgets' }),
    operation: fc.constantFrom('CREATE', 'UPDATE', 'DELETE', 'X'),
    object: fc.oneof(object, jsonValue),
    oldObject: fc.oneof(object, fc.constant(null)),
    userInfo: jsonValue,
    desiredAPIVersion: fc.constantFrom('example.com/v2', 'x', ''),
    objects: fc.array(fc.oneof(object, jsonValue), { maxLength: 3 }),
  },
  { requiredKeys: ['uid'] },
)

fuzz('admission-review', {
  inputs: jsonOf({
    apiVersion: fc.constantFrom('admission.k8s.io/v1', 'apiextensions.k8s.io/v1'),
    kind: fc.constantFrom('AdmissionReview', 'ConversionReview'),
    request,
  }),
  dictionary: [
    'request',
    'object',
    'oldObject',
    'uid',
    'kind',
    'resource',
    'operation',
    'objects',
    'metadata',
    'labels',
    'AdmissionReview',
    'ConversionReview',
    'apiextensions.k8s.io/v1',
  ],
  isJson: true,
  async run(input) {
    const { logger, failures } = failureLog()
    const router = new WebhookRouter(routes, { logger })
    for (const { path } of routes) {
      const answered = await attemptAsync(() => router.handleBytes(path, input), BadReviewError)
      if (failures.length > 0) throw failures[0]
      if (answered !== undefined) checkAnswer(answered.value, textOf(input))
    }
  },
})

function checkAnswer(answer: object, text: string): void {
  sameJson('a response is JSON', JSON.parse(JSON.stringify(answer)), answer)
  const { response } = answer as { readonly response?: Readonly<Record<string, unknown>> }
  if (typeof response?.uid !== 'string') throw broken('a response names its review', text)
}
