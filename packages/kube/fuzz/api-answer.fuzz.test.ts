/** Fuzzes responses of an API server, or of an attacker in its place, to the client. */
import { attemptAsync, fuzz, jsonOf, jsonValue, textOf } from '@reeve/fuzz'
import { isRecord, type JsonRecord, type TransportResponse } from '@reeve/http'
import fc from 'fast-check'
import { Pods } from '../src/builtin-resources.ts'
import type { KubeClient } from '../src/client.ts'
import { createClient, type DiscoveringClient } from '../src/create-client.ts'
import { KubeError } from '../src/errors.ts'
import { pieces, ScriptedTransport } from '../src/testing/scripted-transport.ts'

const key = { namespace: 'shop', name: 'web' }
const calls: Readonly<Record<string, (client: DiscoveringClient) => Promise<unknown>>> = {
  get: (client) => client.get(Pods, key),
  metadata: (client) => client.get(Pods, key, { metadataOnly: true }),
  list: (client) => client.list(Pods),
  listAll: (client) => client.listAll(Pods, { limit: 2 }),
  listMetadata: (client) => client.list(Pods, { metadataOnly: true }),
  delete: (client) => client.delete(Pods, key),
  raw: (client) => client.raw({ method: 'GET', path: '/x' }),
  discover: (client) => client.resourceFor({ apiVersion: 'example.com/v1', kind: 'Widget' }),
  watch: watched,
}

async function watched(client: KubeClient): Promise<number> {
  let events = 0
  for await (const _ of client.watch(Pods, { resourceVersion: '1' })) events += 1
  return events
}

const object = fc.record(
  { apiVersion: fc.constant('v1'), kind: fc.constantFrom('Pod', 'Status'), metadata: jsonValue },
  { requiredKeys: [] },
)
const list = fc.record({
  kind: fc.constant('PodList'),
  metadata: fc.record({ continue: fc.string({ maxLength: 3 }) }),
  items: fc.array(object, { maxLength: 3 }),
})
const groups = fc.constant({
  kind: 'APIGroupDiscoveryList',
  items: [
    {
      metadata: { name: 'example.com' },
      versions: [
        {
          version: 'v1',
          resources: [{ resource: 'widgets', responseKind: { kind: 'Widget' }, scope: 'Namespaced', verbs: ['get'] }],
        },
      ],
    },
  ],
})
const event = fc.record({
  type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR', 'X'),
  object: fc.oneof(object, jsonValue),
})
const status = fc.constantFrom(
  {
    kind: 'Status',
    code: 410,
    reason: 'Expired',
    message: 'too old',
    details: { causes: [{ message: 'x' }], retryAfterSeconds: 1 },
  },
  { kind: 'Status', details: null },
)
const body = fc.oneof(
  object,
  list,
  groups,
  status,
  jsonValue,
  fc.array(event, { maxLength: 4 }).map((events) => events.map((one) => JSON.stringify(one)).join('\n')),
)

fuzz('api-answer', {
  inputs: jsonOf({
    call: fc.constantFrom(...Object.keys(calls)),
    status: fc.constantFrom(200, 201, 400, 404, 409, 410, 429, 500, 503),
    headers: fc.constantFrom(
      { 'content-type': 'application/json' },
      { 'retry-after': '0', warning: '299 - "a" "b"' },
      {},
    ),
    body,
  }),
  dictionary: [
    'items',
    'metadata',
    'continue',
    'resourceVersion',
    'kind',
    'Status',
    'ADDED',
    'object',
    'APIGroupDiscoveryList',
    'APIVersions',
    'versions',
    'groups',
    'resources',
  ],
  isJson: true,
  async run(input) {
    const answer = parsed(textOf(input))
    const call = calls[String(answer?.call)]
    if (answer === undefined || call === undefined) return
    const client = createClient({
      transport: new ScriptedTransport(async () => answer.response()),
      retries: { maxRetries: 0 },
    })
    await attemptAsync(() => call(client), KubeError)
  },
})

interface ScriptedAnswer {
  readonly call: string
  readonly response: () => TransportResponse
}

function parsed(text: string): ScriptedAnswer | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? scripted(value) : undefined
  } catch {
    // Not JSON, or a body that is nested too deep to be written again.
    return undefined
  }
}

function scripted({ call, status: code, headers, body: content }: JsonRecord): ScriptedAnswer | undefined {
  const isCode = typeof code === 'number' && Number.isInteger(code) && code >= 100 && code <= 999
  if (typeof call !== 'string' || !Object.hasOwn(calls, call) || !isCode) return undefined
  const bytes = typeof content === 'string' ? content : JSON.stringify(content ?? null)
  const lines = Object.entries(isRecord(headers) ? headers : {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  // Pages of a list would lead to each other forever.
  let left = 3
  return {
    call,
    response: () => {
      left -= 1
      return left < 0
        ? { status: 200, headers: {}, body: pieces('{"items":[]}') }
        : { status: code, headers: Object.fromEntries(lines), body: pieces(bytes.slice(0, 7), bytes.slice(7)) }
    },
  }
}
