/** The API of the console: what each address returns. Nothing here changes the cluster. */
import { isRecord } from '@reeve/http'
import { CONSOLE_LIMITS } from '../limits.ts'
import type { ConsoleModel } from '../model/console-model.ts'
import { type ResourceAddress, resourceDetail } from '../model/resource-detail.ts'
import { withoutSecrets } from '../model/secrets.ts'
import { json, problem, type WholeResponse } from './response.ts'

/** A request after it was authorized. */
export interface ApiRequest {
  readonly method: string
  readonly url: URL
  /** The parsed body of a POST. */
  readonly body?: unknown
  readonly signal: AbortSignal
}

/** Reconciles that are listed at once. */
const PAGE = 200

/** Responds to an API request; `undefined` for an unknown address. */
export async function respond(model: ConsoleModel, request: ApiRequest): Promise<WholeResponse | undefined> {
  const { method, url, signal } = request
  const { pathname, searchParams } = url
  if (method === 'POST') return pathname === '/api/plan' ? plan(model, request) : undefined
  if (method !== 'GET' && method !== 'HEAD') return undefined
  switch (pathname) {
    case '/api/overview':
      return json(model.overview())
    case '/api/resources':
      return json(model.rows())
    case '/api/resource': {
      const address = addressOf(Object.fromEntries(searchParams))
      if (address === undefined) return problem(400, 'operator, kind and name are required')
      const detail = await resourceDetail(model, address, signal)
      return detail === undefined ? problem(404, 'this resource does not exist (any more)') : json(detail)
    }
    case '/api/reconciles':
      return json(model.journal.list(queryOf(searchParams)))
    case '/api/health':
      return json(withoutSecrets(await model.health(), model.redact))
    case '/api/view':
      return view(model, searchParams, signal)
    default:
      return undefined
  }
}

function queryOf(params: URLSearchParams) {
  const text = (name: string) => {
    const value = params.get(name)
    return value === null || value === '' ? {} : { [name]: value }
  }
  const before = Number(params.get('before') ?? Number.NaN)
  return {
    ...text('resource'),
    ...text('operator'),
    ...text('controller'),
    ...(Number.isFinite(before) && { before }),
    isTelling: params.get('telling') === 'true',
    limit: PAGE,
  }
}

async function plan(model: ConsoleModel, { body, signal }: ApiRequest): Promise<WholeResponse> {
  const address = isRecord(body) ? addressOf(body) : undefined
  if (address === undefined || !isRecord(body)) return problem(400, 'operator, kind and name are required')
  const { manifest } = body
  if (manifest !== undefined && typeof manifest !== 'string') return problem(400, 'manifest: must be a text')
  // Each takes memory and time of the operator.
  if (model.isPlanning) return problem(429, 'another plan is being made: try again when it is ready')
  model.isPlanning = true
  try {
    // A plan needs an embedded cluster, which is not loaded before somebody asks for one.
    const { planResource } = await import('../model/plan-resource.ts')
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(CONSOLE_LIMITS.planTimeoutMs)])
    return json(await planResource(model, { ...address, ...(manifest !== undefined && { manifest }) }, deadline))
  } finally {
    model.isPlanning = false
  }
}

async function view(model: ConsoleModel, params: URLSearchParams, signal: AbortSignal): Promise<WholeResponse> {
  const observed = model.operator(params.get('operator') ?? '')?.observed
  const found = observed?.views.find(({ id }) => id === params.get('id'))
  if (observed === undefined || found === undefined) return problem(404, 'there is no such view')
  const { client, cache } = observed
  const sections = await found.read({ client, cache, signal })
  return json(withoutSecrets({ title: found.title, sections }, model.redact))
}

function addressOf(value: Readonly<Record<string, unknown>>): ResourceAddress | undefined {
  const { operator, kind, namespace, name } = value
  if (typeof operator !== 'string' || typeof kind !== 'string' || typeof name !== 'string') return undefined
  const isNamespaced = typeof namespace === 'string' && namespace !== ''
  return { operator, kind, ...(isNamespaced && { namespace }), name }
}
