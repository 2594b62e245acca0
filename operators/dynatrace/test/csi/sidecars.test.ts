/** The registrar and the liveness probe, as processes beside a driver. */
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { silentLogger } from '@reeve/runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Method, serveUnix } from '../../src/csi/grpc/unix-server.ts'
import { runLivenessProbe } from '../../src/csi/liveness/liveness-probe.ts'
import { identityService } from '../../src/csi/server/identity-service.ts'
import { freePorts } from '../support/operator-process.ts'
import { spawnBound } from '../support/spawn-bound.ts'
import { csiClient } from './support/csi-client.ts'

const OPERATOR = fileURLToPath(new URL('../../bin/dynatrace-operator.js', import.meta.url))
const DRIVER = 'csi.oneagent.dynatrace.com'

let folder: string
let stop: AbortController
let running: Promise<unknown>[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sidecars-'))
  stop = new AbortController()
  running = []
})
afterEach(async () => {
  stop.abort()
  await Promise.allSettled(running)
  await rm(folder, { recursive: true, force: true })
})

const socket = () => join(folder, 'csi.sock')

/** A driver in this process; `more` replaces methods of its Identity service. */
function serveDriver(more: Readonly<Record<string, Method>> = {}): void {
  const services = { 'csi.v1.Identity': { ...identityService('1.0.0'), ...more } }
  running.push(serveUnix(socket(), services, { signal: stop.signal, logger: silentLogger }))
}

async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find().catch(() => undefined)
    if (found !== undefined) return found
    await pause(20)
  }
}

describe('the registrar', () => {
  it('announces a driver that appears late, keeps running when it is rejected, and leaves with SIGTERM', async () => {
    const child = spawnBound([
      process.execPath,
      OPERATOR,
      'csi-node-driver-registrar',
      `--csi-address=${socket()}`,
      `--plugin-registration-path=${folder}`,
      '--kubelet-registration-path=/node/csi.sock',
    ])
    let log = ''
    child.stderr.on('data', (chunk) => {
      log += String(chunk)
    })
    await until(async () => log.includes('waiting for the CSI driver') || undefined)
    expect((await readdir(folder)).filter((name) => name.endsWith('-reg.sock'))).toEqual([])
    serveDriver()
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
    const child = spawnBound([process.execPath, OPERATOR, 'csi-node-driver-registrar', `--csi-address=${socket()}`])
    const ended = once(child, 'exit')
    await once(child.stderr, 'data')
    child.kill('SIGTERM')
    expect((await ended)[0]).toBe(0)
  })

  it.each([
    ['has no name', { GetPluginInfo: async () => new Uint8Array() }],
    ['responds with an error', { GetPluginInfo: () => Promise.reject(new Error('broken')) }],
  ])('exits 1 when the driver %s', async (_, methods) => {
    serveDriver(methods)
    const child = spawnBound([
      process.execPath,
      OPERATOR,
      'csi-node-driver-registrar',
      `--csi-address=${socket()}`,
      `--plugin-registration-path=${folder}`,
    ])
    expect((await once(child, 'exit'))[0]).toBe(1)
  })
})

describe('the liveness probe', () => {
  /** Serves it for the driver of this test; resolves with a function that calls it. */
  async function probe(timeoutMs = 5_000) {
    const [port = 0] = await freePorts(1)
    const options = { csiSocket: socket(), port, host: '127.0.0.1', timeoutMs, logger: silentLogger }
    running.push(runLivenessProbe(options, stop.signal))
    const ask = async (path = '/healthz', method = 'GET') => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method })
      return [response.status, await response.text()] as const
    }
    return { ask, port }
  }

  it('opens its port only after the driver responds', async () => {
    const { ask } = await probe()
    await pause(100)
    await expect(ask()).rejects.toThrow()
    serveDriver()
    expect(await until(() => ask())).toEqual([200, 'ok'])
  })

  it.each([
    ['is ready by not denying it', {}, [200, 'ok']],
    ['is ready', { Probe: async () => Buffer.from([0x0a, 0x02, 0x08, 0x01]) }, [200, 'ok']],
    ['is not ready', { Probe: async () => Buffer.from([0x0a, 0x00]) }, [500, 'the driver is not ready']],
    ['fails', { Probe: () => Promise.reject(new Error('no disk')) }, [500, expect.stringContaining('no disk')]],
  ])('reports a driver that %s', async (_, methods, expected) => {
    serveDriver(methods)
    const { ask } = await probe()
    expect(await until(() => ask())).toEqual(expected)
    expect(await ask('/healthz?x=y', 'POST')).toEqual(expected)
    expect((await ask('/other'))[0]).toBe(404)
  })

  it('reports a driver that takes too long, or is not running', async () => {
    serveDriver({ Probe: () => pause(2_000, new Uint8Array(), { signal: stop.signal }) })
    const { ask } = await probe(200)
    expect((await until(() => ask()))[0]).toBe(500)
    await rm(socket())
    expect((await ask())[0]).toBe(500)
  })
})
