import type { Transport } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { createClient } from '@reeve/kube'
import { type Logger, silentLogger } from '@reeve/runtime'
import { WebhookRouter } from '@reeve/runtime/webhooks'
import { describe, expect, it } from 'vitest'
import { IgnoredNamespacePatterns } from '../api/ignored-namespaces.ts'
import { dynakube } from '../api/testing/build.ts'
import { ALL_MODULES } from '../api/validation/modules.ts'
import { clusterLookups } from './cluster-lookups.ts'
import { validationPath, validationRoutes } from './validate.ts'

type Response = { readonly status: number; readonly body: object } | 'silence'

/** A cluster that responds by path; other paths are not found. */
function setUp(answers: Readonly<Record<string, Response>>, everything?: Response) {
  const clock = new SimulatedClock()
  const asked: string[] = []
  const warnings: string[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (fields) =>
      warnings.push(JSON.stringify(fields, (_, value) => (value instanceof Error ? value.message : value))),
  }
  const transport: Transport = {
    send: (request) => {
      const path = request.path.split('?')[0] ?? ''
      asked.push(path)
      const answer = everything ??
        answers[path] ?? { status: 404, body: { kind: 'Status', reason: 'NotFound', code: 404 } }
      if (answer === 'silence') {
        return new Promise((_, reject) =>
          request.signal?.addEventListener('abort', () => reject(request.signal?.reason), { once: true }),
        )
      }
      const text = new TextEncoder().encode(JSON.stringify(answer.body))
      const body = (async function* () {
        yield text
      })()
      return Promise.resolve({ status: answer.status, headers: { 'content-type': 'application/json' }, body })
    },
    close: async () => undefined,
  }
  const client = createClient({ transport, clock, random: () => 0 })
  const ignoredNamespaces = new IgnoredNamespacePatterns()
  const lookupsIn = clusterLookups({ client, modules: ALL_MODULES, ignoredNamespaces, logger })
  const lookups = (signal = new AbortController().signal) => lookupsIn('dynatrace', signal)
  return { clock, asked, warnings, lookups }
}

const DYNAKUBES = '/apis/dynatrace.com/v1beta6/namespaces/dynatrace/dynakubes'
const listOf = (...items: object[]) => ({
  status: 200,
  body: { kind: 'List', metadata: { resourceVersion: '1' }, items },
})

describe('look-ups', () => {
  it('decode Secrets, and distinguish a missing one from one that cannot be read', async () => {
    const path = '/api/v1/namespaces/dynatrace/secrets'
    const { clock, lookups } = setUp({
      [`${path}/proxy`]: { status: 200, body: { metadata: { name: 'proxy' }, data: { proxy: btoa('http://p') } } },
      [`${path}/locked`]: { status: 403, body: { kind: 'Status', reason: 'Forbidden', code: 403 } },
    })
    const { readSecret } = lookups()
    expect(await clock.runToCompletion(readSecret('proxy'))).toEqual({ proxy: 'http://p' })
    expect(await clock.runToCompletion(readSecret('missing'))).toBeUndefined()
    await expect(clock.runToCompletion(readSecret('locked'))).rejects.toMatchObject({ status: 403 })
  })

  it('list once what several rules need', async () => {
    const { clock, asked, lookups } = setUp({
      [DYNAKUBES]: listOf(dynakube()),
      '/api/v1/namespaces': listOf(
        { metadata: { name: 'shop', labels: { team: 'a' } } },
        { metadata: { name: 'bare' } },
      ),
    })
    const { listDynaKubes, listNamespaces } = lookups()
    const lists = Promise.all([listDynaKubes(), listDynaKubes(), listNamespaces()])
    const [one, two, namespaces] = await clock.runToCompletion(lists)
    expect(one).toBe(two)
    expect(one.map(({ metadata }) => metadata.name)).toEqual(['dk'])
    expect(namespaces).toEqual([
      { name: 'shop', labels: { team: 'a' } },
      { name: 'bare', labels: {} },
    ])
    expect(asked).toHaveLength(2)
  })

  it('share lists between reviews that are handled at the same time', async () => {
    const { clock, asked, lookups } = setUp({ [DYNAKUBES]: listOf(dynakube()) })
    const reviews = Array.from({ length: 8 }, () => lookups().listDynaKubes())
    const lists = await clock.runToCompletion(Promise.all(reviews))
    expect(lists.map((items) => items.length)).toEqual(Array(8).fill(1))
    // The first had started before the others came.
    expect(asked).toHaveLength(2)
    await clock.runToCompletion(lookups().listDynaKubes())
    expect(asked).toHaveLength(3)
  })

  it('that are shared are not aborted by one of the reviews', async () => {
    const { clock, lookups } = setUp({ [DYNAKUBES]: listOf(dynakube()) })
    const gone = new AbortController()
    const [leaving, staying] = [lookups(gone.signal).listDynaKubes(), lookups().listDynaKubes()]
    gone.abort(new Error('the client is gone'))
    await expect(leaving).rejects.toThrow('the client is gone')
    expect(await clock.runToCompletion(staying)).toHaveLength(1)
  })

  it('know Istio by its group and version', async () => {
    const path = '/apis/networking.istio.io/v1beta1'
    const present = setUp({ [path]: { status: 200, body: { kind: 'APIResourceList', resources: [] } } })
    expect(await present.clock.runToCompletion(present.lookups().hasIstio())).toBe(true)
    const absent = setUp({})
    expect(await absent.clock.runToCompletion(absent.lookups().hasIstio())).toBe(false)
  })
})

describe('with an API server that is silent', () => {
  const object = dynakube({ oneAgent: { cloudNativeFullStack: {} }, proxy: { valueFrom: 'proxy' }, enableIstio: true })
  const body = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'uid-1',
      kind: { group: 'dynatrace.com', version: 'v1beta6', kind: 'DynaKube' },
      resource: { group: 'dynatrace.com', version: 'v1beta6', resource: 'dynakubes' },
      namespace: 'dynatrace',
      operation: 'CREATE',
      object,
    },
  }

  const reviewing = () => {
    const { clock, warnings, lookups } = setUp({}, 'silence')
    const routes = validationRoutes((_, signal) => lookups(signal))
    return { clock, warnings, router: new WebhookRouter(routes, { clock }) }
  }

  it('a review is completed well within the timeout, and reports what could not be checked', async () => {
    const { clock, warnings, router } = reviewing()
    const startMs = clock.now()
    const answer = await clock.runToCompletion(
      router.handle(validationPath('v1beta6', 'DynaKube'), structuredClone(body)),
    )
    expect(clock.now() - startMs).toBeLessThan(5_000)
    expect(answer).toMatchObject({
      response: {
        allowed: false,
        status: { code: 403, message: expect.stringMatching(/2 errors[\s\S]*no response within 3000 ms[\s\S]*Istio/) },
      },
    })
    expect(warnings.length).toBeGreaterThan(0)
    expect(clock.pendingTimers).toBe(0)
  })

  it('a review that shares look-ups with others is completed within the timeout, too', async () => {
    const { clock, router } = reviewing()
    const startMs = clock.now()
    const path = validationPath('v1beta6', 'DynaKube')
    const answers = [1, 2, 3].map(() => router.handle(path, structuredClone(body)))
    const responses = await clock.runToCompletion(Promise.all(answers))
    expect(clock.now() - startMs).toBeLessThan(9_000)
    for (const answer of responses)
      expect(answer).toMatchObject({ response: { allowed: false, status: { code: 403 } } })
  })

  it('a caller with a shorter deadline gets a result before it', async () => {
    const { clock, router } = reviewing()
    const startMs = clock.now()
    const path = validationPath('v1beta6', 'DynaKube')
    const answer = await clock.runToCompletion(router.handle(path, structuredClone(body), { timeoutMs: 1_000 }))
    expect(clock.now() - startMs).toBeLessThanOrEqual(1_000)
    expect(answer).toMatchObject({ response: { allowed: false, status: { code: 504 } } })
  })
})
