/** Fuzzes reviews of DynaKubes and EdgeConnects: admission in every version, and conversion between them. */
import { objectSchema } from '@reeve/crd'
import { attemptAsync, broken, fuzz, jsonOf, jsonValue } from '@reeve/fuzz'
import { type Logger, silentLogger } from '@reeve/runtime'
import { BadReviewError, WebhookRouter } from '@reeve/runtime/webhooks'
import fc from 'fast-check'
import { DynaKubeCrd } from '../src/api/dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from '../src/api/edgeconnect/edgeconnect-crd.ts'
import { arbitraryObject } from '../src/api/testing/arbitrary-object.ts'
import { dynakube } from '../src/api/testing/build.ts'
import { lookups } from '../src/api/testing/lookups.ts'
import { CONVERT_PATH, convertRoute } from '../src/webhooks/convert.ts'
import { validationPath, validationRoutes } from '../src/webhooks/validate.ts'

const kinds = [DynaKubeCrd, EdgeConnectCrd].flatMap((crd) =>
  Object.keys(crd.versions).map((version) => ({ crd, version })),
)
const annotations = fc.constantFrom(
  { 'feature.dynatrace.com/ignored-namespaces': '["^a{9}$", "(b|c)+"]' },
  { 'feature.dynatrace.com/automatic-injection': 'maybe', 'feature.dynatrace.com/max-unavailable': '-1' },
  { 'feature.dynatrace.com/oneagent-initial-connect-retry-ms': '1e9' },
)
const objects = fc.oneof(
  ...kinds.map(({ crd, version }) => arbitraryObject(objectSchema(crd, version), `${crd.group}/${version}`, crd.kind)),
)
const flagged = fc
  .tuple(objects, fc.option(annotations))
  .map(([object, flags]) =>
    flags === null ? object : { ...object, metadata: { ...object.metadata, annotations: flags } },
  )
const desiredAPIVersion = fc.constantFrom(...kinds.map(({ crd, version }) => `${crd.group}/${version}`), 'x', '')

/** The router answers for a handler that fails; here its error is what matters. */
function failureLog(): { readonly logger: Logger; readonly failures: unknown[] } {
  const failures: unknown[] = []
  const error = (fields: object) => failures.push('err' in fields ? fields.err : fields)
  return { failures, logger: { ...silentLogger, error } }
}

const cluster = lookups({
  dynakubes: [dynakube({}, { name: 'other' })],
  namespaces: { shop: { app: 'web' }, 'kube-system': {} },
  secrets: { dk: { apiToken: 'x' } },
})
const routes = [...validationRoutes(() => cluster), convertRoute()]

fuzz('dynatrace-review', {
  inputs: jsonOf({
    apiVersion: fc.constantFrom('admission.k8s.io/v1', 'apiextensions.k8s.io/v1'),
    kind: fc.constantFrom('AdmissionReview', 'ConversionReview'),
    request: fc.record({
      uid: fc.constant('u'),
      kind: fc.constant({ group: 'dynatrace.com', version: 'v1', kind: 'x' }),
      resource: fc.constant({ group: 'dynatrace.com', version: 'v1', resource: 'x' }),
      operation: fc.constantFrom('CREATE', 'UPDATE'),
      namespace: fc.constant('dynatrace'),
      object: flagged,
      oldObject: fc.oneof(fc.constant(null), flagged, jsonValue),
      desiredAPIVersion,
      objects: fc.array(flagged, { maxLength: 2 }),
    }),
  }),
  dictionary: [
    'spec',
    'metadata',
    'annotations',
    'oneAgent',
    'activeGate',
    'apiUrl',
    'proxy',
    'value',
    'namespaceSelector',
    'matchExpressions',
    'feature.dynatrace.com/ignored-namespaces',
    '["a{99}"]',
    'dynatrace.com/v1beta3',
    'deletionTimestamp',
    'status',
    'conditions',
    'hostPatterns',
  ],
  isJson: true,
  async run(input) {
    const { logger, failures } = failureLog()
    const router = new WebhookRouter(routes, { logger })
    for (const path of pathsFor(input)) {
      const answered = await attemptAsync(() => router.handleBytes(path, input), BadReviewError)
      if (failures.length > 0) throw failures[0]
      if (answered !== undefined) checkAnswer(answered.value)
    }
  },
})

/** Conversion, and validation by the version that the object has, which is where the API server sends it. */
function pathsFor(input: Uint8Array): readonly string[] {
  const text = Buffer.from(input).toString('latin1')
  const found = kinds.find(({ crd, version }) => text.includes(`${crd.group}/${version}"`) && text.includes(crd.kind))
  const { crd, version } = found ?? { crd: DynaKubeCrd, version: 'v1beta6' }
  return [CONVERT_PATH, validationPath(version, crd.kind)]
}

interface Answer {
  readonly response?: {
    readonly status?: { readonly reason?: string }
  }
}

function checkAnswer(answer: object): void {
  const { response } = answer as Answer
  if (response === undefined) throw broken('an answer has a response', answer)
  if (response.status?.reason === 'InternalError') throw broken('a review is decided', answer)
}
