/** Fuzzes whole requests to the embedded cluster: line, headers, body. */
import { broken, fuzz, jsonDocument, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { type EmbeddedCluster, startEmbeddedCluster } from '../src/cluster.ts'
import type { ServerRequest } from '../src/http/exchange.ts'
import { deploymentSpec } from './support/deployment-input.ts'
import { objectsOfKinds } from './support/object-input.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const paths = [
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/configmaps/a',
  '/api/v1/namespaces/default/pods',
  '/api/v1/namespaces/default/pods/a',
  '/api/v1/namespaces/default/pods/a/status',
  '/api/v1/namespaces/default/pods/a/log',
  '/api/v1/namespaces/default/pods/a/binding',
  '/api/v1/namespaces/default/pods/a/eviction',
  '/api/v1/namespaces/default/services',
  '/api/v1/namespaces/default/serviceaccounts/default/token',
  '/api/v1/namespaces',
  '/api/v1/nodes',
  '/api/v1/watch/pods',
  '/apis/apps/v1/namespaces/default/deployments',
  '/apis/apps/v1/namespaces/default/deployments/a',
  '/apis/apps/v1/namespaces/default/deployments/a/scale',
  '/apis/batch/v1/namespaces/default/cronjobs',
  '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authentication.k8s.io/v1/tokenreviews',
  '/openapi/v3/apis/apps/v1',
  '/openapi/v2',
  '/version',
  '/healthz?verbose',
  '/%2e%2e/',
  '//',
]
const queries = [
  '',
  '?limit=2',
  '?continue=x',
  '?labelSelector=a%3Db',
  '?fieldSelector=metadata.name%3Da',
  '?resourceVersion=-1',
  '?resourceVersion=0&resourceVersionMatch=Exact',
  '?fieldManager=x&force=true',
  '?dryRun=All',
  '?fieldValidation=Strict',
  '?propagationPolicy=Foreground',
  '?gracePeriodSeconds=-1',
  '?timeoutSeconds=0',
  '?pretty=1',
  '?tailLines=x',
]
const headers = [
  'content-type: application/json',
  'content-type: application/apply-patch+yaml',
  'content-type: application/json-patch+json',
  'content-type: application/merge-patch+json',
  'content-type: application/strategic-merge-patch+json',
  'content-type: application/yaml',
  'accept: application/json;as=Table;v=v1;g=meta.k8s.io',
  'accept: application/yaml',
  'accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'accept: */*;q=0.1,x',
  'authorization: Bearer a.b.c',
  'authorization: Basic eA==',
  'impersonate-user: x',
  'impersonate-extra-a%2fb: c',
]
const deployment = deploymentSpec.map((spec) =>
  JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec }),
)

const request = fc
  .tuple(
    fc.constantFrom(...methods),
    fc.constantFrom(...paths),
    fc.constantFrom(...queries),
    fc.subarray(headers, { maxLength: 2 }),
    fc.oneof(deployment, objectsOfKinds, jsonDocument, fc.constant('')),
  )
  .map(([method, path, query, lines, body]) => [`${method} ${path}${query}`, ...lines, '', body].join('\n'))

/** Requests leave objects behind: a new cluster now and then keeps an input from depending on thousands before it. */
class ClusterSupply {
  readonly #requestsPerCluster = 200
  #requests = 0
  #cluster: EmbeddedCluster | undefined

  async take(): Promise<EmbeddedCluster> {
    this.#requests += 1
    if (this.#cluster === undefined || this.#requests % this.#requestsPerCluster === 0) {
      await this.#cluster?.stop()
      this.#cluster = await startEmbeddedCluster({ listen: false, controllers: false })
    }
    return this.#cluster
  }
}

const clusters = new ClusterSupply()

/** The request in a text like that of HTTP/1.1; `undefined` if the HTTP front would reject it. */
function parseRequest(text: string): ServerRequest | undefined {
  const [head = '', ...rest] = text.split('\n\n')
  const [line = '', ...lines] = head.split('\n')
  const [name, path = ''] = line.split(' ')
  const method = methods.find((known) => known === name)
  if (method === undefined || !path.startsWith('/')) return undefined
  const pairs = lines
    .map((one) => one.split(': ', 2))
    .map(([key = '', value = '']) => [key.toLowerCase(), value] as const)
  const body = rest.join('\n\n')
  return { method, path, headers: Object.fromEntries(pairs), ...(body !== '' && { body }) }
}

fuzz('cluster-request', {
  inputs: request,
  dictionary: [
    ...methods.map((method) => `${method} `),
    ...queries.map((query) => query.slice(1)),
    ...headers.map((header) => `\n${header}`),
    'metadata',
    'spec',
    'status',
    '/status',
    '/scale',
    'ownerReferences',
    'finalizers',
    'managedFields',
    'resourceVersion',
    '%2F',
    '\n\n',
    '&',
    '?watch=1&timeoutSeconds=0',
  ],
  maxBytes: 16 * 1024,
  async run(input) {
    const parsed = parseRequest(textOf(input))
    if (parsed === undefined) return
    const cluster = await clusters.take()
    const stop = new AbortController()
    const response = await cluster.handle({ ...parsed, signal: stop.signal })
    let text = ''
    // A watch does not end on its own.
    const isStream = response.status === 200 && /[?&/]watch\b/.test(parsed.path)
    if (!isStream) for await (const chunk of response.body) text += textOf(chunk)
    stop.abort()
    if (response.status === 500 && /"message":"Internal error occurred: (\w*Error\b|Error: )/.test(text)) {
      throw broken('no request ends in an internal error', text)
    }
  },
})
