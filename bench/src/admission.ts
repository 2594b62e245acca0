/** Reviews handled by the webhooks of the Dynatrace operator, beside the limit of Node's TLS server. */
import type { Result } from './result.ts'
import { CONNECTIONS, compare, startServer } from './tls-load.ts'

const SERVER = new URL('admission-server.ts', import.meta.url)

/** How long each round of each server takes. */
export interface AdmissionLoad {
  readonly roundMs: number
}

/** Validation in the stored and in an older version, and conversion: reviews per second and the 99th percentile. */
export async function admission({ roundMs }: AdmissionLoad): Promise<readonly Result[]> {
  const results: Result[] = []
  await using webhooks = await startServer(SERVER)
  for (const { name, path, body } of SCENARIOS) {
    const answerBytes = (await webhooks.post(path, body)).length
    await using constant = await startServer(SERVER, answerBytes)
    const { own, bare } = await compare(webhooks, constant, { path, bodies: [body], roundMs })
    results.push(
      {
        name: `${name}, per second`,
        figure: `${own.perSecond.toFixed(0)} reviews/s`,
        beside: `${bare.perSecond.toFixed(0)}/s from a bare TLS server`,
        ratio: own.perSecond / bare.perSecond,
        note: `request of ${body.length} and response of ${answerBytes} bytes`,
      },
      {
        name: `${name}, p99`,
        figure: `${own.p99Ms.toFixed(1)} ms`,
        beside: `${bare.p99Ms.toFixed(1)} ms`,
        ratio: own.p99Ms / bare.p99Ms,
        note: `lower is better; ${CONNECTIONS} connections`,
      },
    )
  }
  return results
}

const SPEC = {
  apiUrl: 'https://abc12345.live.dynatrace.com/api',
  metadataEnrichment: { enabled: true, namespaceSelector: { matchLabels: { team: 'shop' } } },
  oneAgent: {
    cloudNativeFullStack: {
      namespaceSelector: { matchLabels: { team: 'shop' } },
      args: ['--set-host-property=stage=test', '--set-host-tag=bench'],
      tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
    },
  },
  activeGate: {
    capabilities: ['routing', 'kubernetes-monitoring', 'dynatrace-api'],
    resources: { requests: { cpu: '500m', memory: '512Mi' }, limits: { cpu: '1000m', memory: '1.5Gi' } },
  },
}

const dynakube = (version: string) => ({
  apiVersion: `dynatrace.com/${version}`,
  kind: 'DynaKube',
  metadata: { namespace: 'dynatrace', name: 'dynakube', uid: 'bench', generation: 1 },
  spec: SPEC,
})

function admissionReview(version: string): Buffer {
  const kind = { group: 'dynatrace.com', version, kind: 'DynaKube' }
  const resource = { group: 'dynatrace.com', version, resource: 'dynakubes' }
  const object = dynakube(version)
  return json({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'bench', kind, resource, operation: 'CREATE', namespace: 'dynatrace', name: 'dynakube', object },
  })
}

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value))

/** What is sent to the webhooks. */
export const SCENARIOS = [
  {
    name: 'validation of v1beta6',
    path: '/validate-dynatrace-com-v1beta6-dynakube',
    body: admissionReview('v1beta6'),
  },
  {
    name: 'validation of v1beta5',
    path: '/validate-dynatrace-com-v1beta5-dynakube',
    body: admissionReview('v1beta5'),
  },
  {
    name: 'conversion of one DynaKube',
    path: '/convert',
    body: json({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: { uid: 'bench', desiredAPIVersion: 'dynatrace.com/v1beta6', objects: [dynakube('v1beta5')] },
    }),
  },
  {
    name: 'conversion of 100 DynaKubes',
    path: '/convert',
    body: json({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: {
        uid: 'bench',
        desiredAPIVersion: 'dynatrace.com/v1beta6',
        objects: Array.from({ length: 100 }, () => dynakube('v1beta5')),
      },
    }),
  },
] as const
