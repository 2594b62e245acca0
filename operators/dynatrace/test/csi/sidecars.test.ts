/** The registrar and the liveness probe, as processes beside a driver. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { silentLogger } from '@reeve/runtime'
import { describe, expect, it } from 'vitest'
import { type Method, serveUnix } from '../../src/csi/grpc/unix-server.ts'
import { runLivenessProbe } from '../../src/csi/liveness/liveness-probe.ts'
import { identityService } from '../../src/csi/server/identity-service.ts'
import { freePorts } from '../support/operator-process.ts'
import { spawnBound } from '../support/spawn-bound.ts'
import { csiClient } from './support/csi-client.ts'

const OPERATOR = fileURLToPath(new URL('../../bin/dynatrace-operator.js', import.meta.url))
const DRIVER = 'csi.oneagent.dynatrace.com'

/** A folder with a driver in this process, if it is served, and what runs beside it. */
class Sidecars implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'sidecars-'))
  readonly socket = join(this.folder, 'csi.sock')
  readonly #stop = new AbortController()
  readonly #running: Promise<unknown>[] = []

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** Serves a driver; `more` replaces methods of its Identity service. */
  async serveDriver(more: Readonly<Record<string, Method>> = {}): Promise<void> {
    const services = { 'csi.v1.Identity': { ...identityService('1.0.0'), ...more } }
    this.#running.push(serveUnix(this.socket, services, { signal: this.signal, logger: silentLogger }))
    // Whoever calls before waits for a second.
    await until(() => stat(this.socket))
  }

  startRegistrar(...flags: readonly string[]): ChildProcessWithoutNullStreams {
    const command = [process.execPath, OPERATOR, 'csi-node-driver-registrar', `--csi-address=${this.socket}`]
    return spawnBound([...command, ...flags])
  }

  /** Serves the liveness probe; resolves with a function that calls it. */
  async probe(timeoutMs = 5_000) {
    const [port = 0] = await freePorts(1)
    const options = { csiSocket: this.socket, port, host: '127.0.0.1', timeoutMs, logger: silentLogger }
    this.#running.push(runLivenessProbe(options, this.signal))
    return async (path = '/healthz', method = 'GET') => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method })
      return [response.status, await response.text()] as const
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled(this.#running)
    await rm(this.folder, { recursive: true, force: true })
  }
}

async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find().catch(() => undefined)
    if (found !== undefined) return found
    await pause(20)
  }
}

// They mostly wait: for processes, and for the second after which a driver is looked for again.
describe.concurrent('the registrar', () => {
  it('announces a driver that appears late, keeps running when it is rejected, and leaves with SIGTERM', async () => {
    await using sidecars = new Sidecars()
    const { folder } = sidecars
    const child = sidecars.startRegistrar(
      `--plugin-registration-path=${folder}`,
      '--kubelet-registration-path=/node/csi.sock',
    )
    let log = ''
    child.stderr.on('data', (chunk) => {
      log += String(chunk)
    })
    await until(async () => log.includes('waiting for the CSI driver') || undefined)
    expect((await readdir(folder)).filter((name) => name.endsWith('-reg.sock'))).toEqual([])
    await sidecars.serveDriver()
    const own = join(folder, `${DRIVER}-reg.sock`)
    await until(() => stat(own))
    using kubelet = csiClient(own)
    expect(await kubelet.call('pluginregistration.Registration/GetInfo')).toEqual({
      response: { type: 'CSIPlugin', name: DRIVER, endpoint: '/node/csi.sock', supported_versions: ['v1.0.0'] },
    })
    expect((await stat(own)).mode & 0o777).toBe(0o600)
    const status = { plugin_registered: false, error: 'no such socket' }
    expect(await kubelet.call('pluginregistration.Registration/NotifyRegistrationStatus', status)).toEqual({
      response: {},
    })
    expect(log).toMatch(/"level":"error".*no such socket/)
    expect(child.exitCode).toBeNull()
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect((await ended)[0]).toBe(0)
    await expect(stat(own)).rejects.toThrow('ENOENT')
  })

  it('leaves with SIGTERM while it still waits for the driver', async () => {
    await using sidecars = new Sidecars()
    const child = sidecars.startRegistrar()
    const ended = once(child, 'exit')
    await once(child.stderr, 'data')
    child.kill('SIGTERM')
    expect((await ended)[0]).toBe(0)
  })

  it.each([
    ['has no name', { GetPluginInfo: async () => new Uint8Array() }],
    ['responds with an error', { GetPluginInfo: () => Promise.reject(new Error('broken')) }],
  ])('exits 1 when the driver %s', async (_, methods) => {
    await using sidecars = new Sidecars()
    await sidecars.serveDriver(methods)
    const child = sidecars.startRegistrar(`--plugin-registration-path=${sidecars.folder}`)
    expect((await once(child, 'exit'))[0]).toBe(1)
  })
})

describe.concurrent('the liveness probe', () => {
  it('opens its port only after the driver responds', async () => {
    await using sidecars = new Sidecars()
    const ask = await sidecars.probe()
    await pause(100)
    await expect(ask()).rejects.toThrow()
    await sidecars.serveDriver()
    expect(await until(() => ask())).toEqual([200, 'ok'])
  })

  it.each([
    ['is ready by not denying it', {}, [200, 'ok']],
    ['is ready', { Probe: async () => Buffer.from([0x0a, 0x02, 0x08, 0x01]) }, [200, 'ok']],
    ['is not ready', { Probe: async () => Buffer.from([0x0a, 0x00]) }, [500, 'the driver is not ready']],
    ['fails', { Probe: () => Promise.reject(new Error('no disk')) }, [500, expect.stringContaining('no disk')]],
  ])('reports a driver that %s', async (_, methods, expected) => {
    await using sidecars = new Sidecars()
    await sidecars.serveDriver(methods)
    const ask = await sidecars.probe()
    expect(await until(() => ask())).toEqual(expected)
    expect(await ask('/healthz?x=y', 'POST')).toEqual(expected)
    expect((await ask('/other'))[0]).toBe(404)
  })

  it('reports a driver that takes too long, or is not running', async () => {
    await using sidecars = new Sidecars()
    await sidecars.serveDriver({ Probe: () => pause(2_000, new Uint8Array(), { signal: sidecars.signal }) })
    const ask = await sidecars.probe(200)
    expect((await until(() => ask()))[0]).toBe(500)
    await rm(sidecars.socket)
    expect((await ask())[0]).toBe(500)
  })
})
