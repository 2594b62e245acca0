import { ApiError, type KubeObject, type Pod, type Resource } from '@reeve/kube'
import type { ViewSource } from '@reeve/runtime/operator'
import { expect, it } from 'vitest'
import { dynatraceView } from './dynatrace-view.ts'
import { TenantCalls } from './tenant-calls.ts'

const NOW = Date.UTC(2026, 0, 1)

const dynakube = {
  metadata: { namespace: 'dynatrace', name: 'dynakube' },
  spec: { apiUrl: 'https://abc.example/api' },
  status: {
    oneAgent: { version: '1.300', source: 'public-registry', connectionInfoStatus: { tenantUUID: 'abc12345' } },
    dynatraceApi: { lastTokenScopeRequest: '2026-01-01T00:00:00Z' },
    conditions: [
      { type: 'Tokens', status: 'False', reason: 'TokenError', message: 'apiToken lacks settings.read' },
      { type: 'OneAgent', status: 'True', reason: 'Ready', message: '' },
    ],
  },
}

const namespace = {
  metadata: { name: 'shop', labels: { 'dynakube.internal.dynatrace.com/instance': 'dynakube' } },
}

const pod = (name: string, annotations: Record<string, string>): Pod =>
  ({ metadata: { namespace: 'shop', name, annotations } }) as Pod // only what the view reads

const csi = {
  metadata: { name: 'csi-1' },
  spec: { nodeName: 'node-1' },
  status: {
    containerStatuses: [
      { ready: true, restartCount: 2 },
      { ready: false, restartCount: 0 },
    ],
  },
} as unknown as Pod

/** A source with these objects. Without `pods` the operator may not list them. */
function sourceWith(pods: readonly Pod[] | undefined): ViewSource {
  const list = ({ kind }: Resource<KubeObject>) => (kind === 'DynaKube' ? [dynakube] : [namespace])
  const listAll = async (_resource: unknown, { labelSelector }: { labelSelector?: string }) => {
    if (pods === undefined) throw new ApiError({ verb: 'list', group: '', resource: 'pods' }, 403)
    return { items: labelSelector === undefined ? pods : [csi] }
  }
  // Only these are called.
  return { cache: { list }, client: { listAll }, signal: AbortSignal.timeout(10_000) } as unknown as ViewSource
}

async function sectionsOf(source: ViewSource, calls = new TenantCalls(() => NOW)) {
  const sections = await dynatraceView(calls, 'dynatrace').read(source)
  return Object.fromEntries(sections.map((section) => [section.title, section.type === 'table' ? section.rows : []]))
}

it('the view of Dynatrace shows tokens, versions, and pods by namespace with the reason where they are not injected', async () => {
  const pods = [
    pod('a', { 'oneagent.dynatrace.com/injected': 'true' }),
    pod('b', { 'oneagent.dynatrace.com/injected': 'false', 'oneagent.dynatrace.com/reason': 'NoBootstrapperConfig' }),
    pod('c', {}),
  ]
  const sections = await sectionsOf(sourceWith(pods))
  expect(sections['Tokens and scopes']).toEqual([
    [
      'dynakube',
      'abc12345',
      'Tokens',
      { text: 'TokenError', tone: 'bad' },
      'apiToken lacks settings.read',
      '2026-01-01T00:00:00Z',
    ],
  ])
  expect(sections.Versions).toEqual([['dynakube', 'oneAgent', '1.300', 'public-registry', '', '']])
  expect(sections['Injected pods']).toMatchObject([
    [
      'shop',
      'dynakube',
      { text: '1 of 3', tone: 'warning' },
      { text: '2', detail: expect.stringContaining('1: NoBootstrapperConfig') },
    ],
  ])
  expect(sections['CSI driver by node']).toEqual([['node-1', 'csi-1', { text: '1 of 2', tone: 'warning' }, '2']])
})

it('the view of Dynatrace says so where the operator may not list pods', async () => {
  const sections = await sectionsOf(sourceWith(undefined))
  expect(sections['Injected pods']).toMatchObject([
    ['shop', 'dynakube', { detail: expect.stringContaining('set console.readPods of its chart') }, ''],
  ])
})

it('the view of Dynatrace counts the calls of all clients by name', async () => {
  const calls = new TenantCalls(() => NOW)
  const reports: string[] = []
  const connect = calls.observed((options) => {
    options.onRequest?.({ call: 'token lookup', method: 'POST', status: 200, durationMs: 12, attempt: 0 })
    options.onRequest?.({
      call: 'token lookup',
      method: 'POST',
      durationMs: 40,
      attempt: 1,
      errorCode: 'HTTP_CONNECTION',
    })
    return {} as never // nothing is called
  })
  connect({ apiUrl: 'https://abc.example/api', apiToken: 'x', onRequest: ({ call }) => reports.push(call) })
  expect(reports).toHaveLength(2)
  const sections = await sectionsOf(sourceWith([]), calls)
  expect(sections['Calls to tenants']).toEqual([
    [
      'token lookup',
      '2',
      { text: '1', tone: 'bad' },
      { text: 'HTTP_CONNECTION', tone: 'bad' },
      '2026-01-01T00:00:00Z',
      '40 ms',
    ],
  ])
})
