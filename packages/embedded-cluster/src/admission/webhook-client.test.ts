import { afterEach, describe, expect, it } from 'vitest'
import type { Clock } from '../clock.ts'
import { startWebhookServer, type WebhookServer } from './testing/webhook-server.ts'
import { WebhookClient } from './webhook-client.ts'

const open: (AsyncDisposable | { close(): Promise<void> })[] = []
afterEach(async () => {
  for (const resource of open.splice(0)) {
    if ('close' in resource) await resource.close()
    else await resource[Symbol.asyncDispose]()
  }
})

function track<T extends AsyncDisposable | { close(): Promise<void> }>(resource: T): T {
  open.push(resource)
  return resource
}

const service = { namespace: 'sys', name: 'hook', path: '/check' }
const review = { kind: 'AdmissionReview' }
const never = new AbortController().signal

function post(client: WebhookClient, clientConfig: Parameters<WebhookClient['post']>[0], timeoutSeconds = 10) {
  return client.post(clientConfig, review, { timeoutSeconds, signal: never })
}

function clientOf(server: WebhookServer, options: { maxResponseBytes?: number; clock?: Clock } = {}): WebhookClient {
  return track(new WebhookClient({ resolveService: () => ({ host: '127.0.0.1', port: server.port }), ...options }))
}

describe('the webhook client', () => {
  it('connects to a service under its cluster name, with the certificate verified against the bundle', async () => {
    const server = track(await startWebhookServer(['hook.sys.svc'], () => ({ ok: true })))
    await expect(post(clientOf(server), { service, caBundle: server.caBundle })).resolves.toEqual({ ok: true })
    expect(server.requests[0]?.url).toBe('/check?timeout=10s')
  })

  it('connects to a URL', async () => {
    const server = track(await startWebhookServer(['127.0.0.1'], () => ({ ok: true })))
    const url = `https://127.0.0.1:${server.port}/a?b=c`
    const client = track(new WebhookClient())
    await expect(post(client, { url, caBundle: server.caBundle }, 3)).resolves.toEqual({ ok: true })
    expect(server.requests[0]?.url).toBe('/a?b=c&timeout=3s')
  })

  it('rejects a certificate of another authority', async () => {
    const server = track(await startWebhookServer(['hook.sys.svc'], () => ({ ok: true })))
    const other = track(await startWebhookServer(['hook.sys.svc'], () => ({ ok: true })))
    await expect(post(clientOf(server), { service, caBundle: other.caBundle })).rejects.toThrow(
      'Post "https://hook.sys.svc:443/check?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority',
    )
    expect(server.requests).toEqual([])
  })

  it('rejects a certificate for another name', async () => {
    const server = track(await startWebhookServer(['other.sys.svc'], () => ({ ok: true })))
    await expect(post(clientOf(server), { service, caBundle: server.caBundle })).rejects.toThrow(
      'x509: certificate is valid for other.sys.svc, not hook.sys.svc',
    )
  })

  it('reports a refused connection', async () => {
    const server = await startWebhookServer(['hook.sys.svc'], () => ({ ok: true }))
    await server[Symbol.asyncDispose]()
    await expect(post(clientOf(server), { service, caBundle: server.caBundle })).rejects.toThrow(
      `dial tcp 127.0.0.1:${server.port}: connect: connection refused`,
    )
  })

  it('reports a service that does not exist', async () => {
    const client = track(new WebhookClient({ resolveService: () => undefined }))
    await expect(post(client, { service })).rejects.toThrow(/service "hook" not found$/)
  })

  it('says why no service is reached without a resolver', async () => {
    await expect(post(track(new WebhookClient()), { service })).rejects.toThrow(
      'service "hook" not found: pods are simulated here, so webhooks are called by URL, or where resolveService says',
    )
  })

  it('times out if a webhook does not respond, by the injected clock', async () => {
    const server = track(await startWebhookServer(['hook.sys.svc'], () => undefined))
    const timers: (() => void)[] = []
    const clock: Clock = {
      now: () => 0,
      schedule: (delayMs, action) => {
        expect(delayMs).toBe(2000)
        timers.push(action)
        return { cancel: () => undefined }
      },
    }
    const call = post(clientOf(server, { clock }), { service, caBundle: server.caBundle }, 2)
    for (const fire of timers) fire()
    await expect(call).rejects.toThrow('Post "https://hook.sys.svc:443/check?timeout=2s": context deadline exceeded')
  })

  it('times out if a webhook sends its response too slowly', async () => {
    const started = Promise.withResolvers<void>()
    const server = track(
      await startWebhookServer(['hook.sys.svc'], (_, response) => {
        response.write('{"a":')
        started.resolve()
      }),
    )
    const timers: (() => void)[] = []
    const clock: Clock = {
      now: () => 0,
      schedule: (_, action) => {
        timers.push(action)
        return { cancel: () => undefined }
      },
    }
    const call = post(clientOf(server, { clock }), { service, caBundle: server.caBundle })
    await started.promise
    for (const fire of timers) fire()
    await expect(call).rejects.toThrow('context deadline exceeded')
  })

  it('aborts a response that is too large', async () => {
    const server = track(await startWebhookServer(['hook.sys.svc'], () => 'x'.repeat(5000)))
    const client = clientOf(server, { maxResponseBytes: 1000 })
    await expect(post(client, { service, caBundle: server.caBundle })).rejects.toThrow('more than 1000 bytes')
  })

  it.each([
    ['<html>', "couldn't get version/kind; json parse error"],
    ['[]', "couldn't get version/kind; json parse error"],
    ['', '0-length response with status code: 200 and content type: application/json'],
  ])('rejects the response %j', async (body, message) => {
    const server = track(await startWebhookServer(['hook.sys.svc'], () => body))
    await expect(post(clientOf(server), { service, caBundle: server.caBundle })).rejects.toThrow(message)
  })

  it.each([
    [404, 'the server could not find the requested resource'],
    [403, 'boom'],
    [405, 'the server does not allow this method on the requested resource'],
    [500, 'an error on the server ("boom") has prevented the request from succeeding'],
    [302, 'an error on the server ("boom") has prevented the request from succeeding'],
  ])('reports status %i', async (status, message) => {
    const server = track(
      await startWebhookServer(['hook.sys.svc'], (_, response) => {
        response.writeHead(status, { location: 'https://127.0.0.1/' })
        return 'boom'
      }),
    )
    await expect(post(clientOf(server), { service, caBundle: server.caBundle })).rejects.toThrow(message)
  })

  it('reports a connection that is reset', async () => {
    const server = track(
      await startWebhookServer(['hook.sys.svc'], (_, response) => {
        response.destroy()
      }),
    )
    await expect(post(clientOf(server), { service, caBundle: server.caBundle })).rejects.toThrow('EOF')
  })

  it('rejects a URL without TLS', async () => {
    const client = track(new WebhookClient())
    await expect(post(client, { url: 'http://127.0.0.1/' })).rejects.toThrow('is not an https URL')
  })

  it('calls an in-process handler before the network, and shares no object with it', async () => {
    const response = { nested: { value: 1 } }
    const client = track(
      new WebhookClient({
        callWebhook: ({ service: at }) => (at?.name === 'hook' ? Promise.resolve(response) : undefined),
      }),
    )
    const received = await post(client, { service })
    expect(received).toEqual(response)
    expect(received.nested).not.toBe(response.nested)
    await expect(post(client, { service: { ...service, name: 'absent' } })).rejects.toThrow(
      'service "absent" not found',
    )
  })

  it('stops immediately when the request is aborted', async () => {
    const server = track(await startWebhookServer(['hook.sys.svc'], () => undefined))
    const controller = new AbortController()
    const call = clientOf(server).post({ service, caBundle: server.caBundle }, review, {
      timeoutSeconds: 10,
      signal: controller.signal,
    })
    controller.abort(new Error('client left'))
    await expect(call).rejects.toThrow('client left')
  })

  it('keeps a bounded number of connection pools and still serves evicted targets', async () => {
    const server = track(await startWebhookServer(['a.sys.svc', 'b.sys.svc'], () => ({ ok: true })))
    const client = track(
      new WebhookClient({ resolveService: () => ({ host: '127.0.0.1', port: server.port }), maxPools: 1 }),
    )
    for (const name of ['a', 'b', 'a']) {
      await expect(post(client, { service: { ...service, name }, caBundle: server.caBundle })).resolves.toEqual({
        ok: true,
      })
    }
  })
})
