/** Fuzzes the responses of admission and conversion webhooks to the embedded cluster. */
import { attempt, attemptAsync, fuzz, jsonOf, jsonValue, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { denial, InvalidReviewError, readReview } from '../src/admission/admission-review.ts'
import { applyReviewPatch } from '../src/admission/review-patch.ts'
import { WebhookClient } from '../src/admission/webhook-client.ts'
import { Converter } from '../src/crd/conversion.ts'
import { readDefinition } from '../src/crd/definition.ts'
import { definition, version } from '../src/crd/testing/definitions.ts'
import { isJsonObject, type JsonObject } from '../src/json.ts'
import { StatusError } from '../src/status-error.ts'
import { parsedBody } from './support/parsed-input.ts'

const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', uid: 'u' }, spec: { a: ['b'] } }
const webhook = { clientConfig: { url: 'https://webhook.example.com/' }, conversionReviewVersions: ['v1'] }
const known = readDefinition(
  definition({
    spec: {
      versions: [version('v1', { storage: true }), version('v2')],
      conversion: { strategy: 'Webhook', webhook },
    },
  }),
)

const operation = fc.record({
  op: fc.constantFrom('add', 'remove', 'replace', 'x'),
  path: fc.constantFrom('/spec/a/0', '/kind', '/metadata/labels', '/x/y'),
  value: jsonValue,
})
const patch = fc
  .array(operation, { maxLength: 3 })
  .map((operations) => Buffer.from(JSON.stringify(operations)).toString('base64'))
const response = fc.record(
  {
    uid: fc.constant('uid'),
    allowed: fc.boolean(),
    patchType: fc.constant('JSONPatch'),
    patch,
    status: fc.oneof(
      fc.constant({ code: 422, message: 'no', reason: 'Invalid', details: { causes: [{ field: 'a' }] } }),
      jsonValue,
    ),
    warnings: fc.array(fc.string({ maxLength: 4 }), { maxLength: 2 }),
    result: fc.constant({ status: 'Success' }),
    convertedObjects: fc.array(fc.oneof(fc.constant({ ...widget, apiVersion: 'example.com/v2' }), jsonValue), {
      minLength: 1,
      maxLength: 1,
    }),
  },
  { requiredKeys: ['uid'] },
)

fuzz('webhook-answer', {
  inputs: jsonOf({
    apiVersion: fc.constantFrom('admission.k8s.io/v1', 'apiextensions.k8s.io/v1'),
    kind: fc.constantFrom('AdmissionReview', 'ConversionReview'),
    response,
  }),
  dictionary: [
    'response',
    'uid',
    'allowed',
    'patch',
    'patchType',
    'JSONPatch',
    'status',
    'result',
    'convertedObjects',
    'Success',
    'labels',
    'annotations',
    'AdmissionReview',
    'ConversionReview',
  ],
  isJson: true,
  async run(input) {
    const answer = parsedBody(textOf(input))
    if (!isJsonObject(answer)) return
    admit(answer)
    await convert(answer)
  },
})

function admit(answer: JsonObject): void {
  const read = attempt(() => readReview(answer, 'uid', true), InvalidReviewError)
  if (read === undefined) return
  const { allowed, patch: operations, status } = read.value
  if (!allowed) denial('webhook', status)
  else if (operations !== undefined) attempt(() => applyReviewPatch('webhook', widget, operations), StatusError)
}

async function convert(answer: JsonObject): Promise<void> {
  const client = new WebhookClient({ callWebhook: async () => answer })
  const converter = new Converter({ client, definitionOfKind: () => known, randomUuid: () => 'uid' })
  const signal = new AbortController().signal
  await attemptAsync(() => converter.convert([widget], 'example.com/v2', signal), StatusError)
}
