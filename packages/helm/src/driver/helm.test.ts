import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Credentials } from '@reeve/http'
import { type ClusterConfig, serviceAccount } from '@reeve/kube'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as errors from '../errors.ts'
import type { ProcessOutcome, ProcessRequest } from '../process/process-runner.ts'
import { exited, ScriptedProcess } from '../testing/scripted-process.ts'
import { type Helm, type HelmOptions, openHelm } from './helm.ts'

const key = { namespace: 'tenant-a', name: 'web' }
const chart = { path: '/charts/web.tgz' }
const printed = { name: 'web', namespace: 'tenant-a', version: 2, info: { status: 'deployed' }, manifest: '' }

const cluster: ClusterConfig = {
  server: 'https://cluster.example.com',
  source: 'a test',
  namespace: 'default',
  trust: { certificateAuthority: { read: async () => 'PEM' }, serverName: 'inner' },
  credentials: { get: async () => ({ authorization: 'Bearer token-one' }), renew: async () => undefined },
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-helm-test-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

interface Setting extends HelmOptions {
  readonly answer?: (request: ProcessRequest) => ProcessOutcome | Promise<ProcessOutcome>
  readonly major?: 3 | 4
  readonly config?: ClusterConfig
}

async function open(setting: Setting = {}): Promise<{ helm: Helm; process: ScriptedProcess }> {
  const { answer = () => exited({ stdout: JSON.stringify(printed) }), major = 4, config = cluster } = setting
  const process = new ScriptedProcess(answer)
  const binary = { path: '/bin/helm', version: `${major}.99.0`, major }
  return { helm: await openHelm(binary, config, { folder, runProcess: process.run, ...setting }), process }
}

const kubeconfigOf = async ({ env }: ProcessRequest) => JSON.parse(await readFile(env.KUBECONFIG ?? '', 'utf8'))

const failing = (stderr: string) => () => exited({ exitCode: 1, stderr })

describe('what helm is started with', () => {
  it('sends values by standard input and never on the command line', async () => {
    const { helm, process } = await open()
    await helm.upgrade(key, chart, { values: { password: 'hunter2' } })
    const [request] = process.requests
    expect(request?.stdin).toBe('{"password":"hunter2"}')
    expect(request?.args.join(' ')).not.toContain('hunter2')
    expect(request?.args.slice(0, 4)).toEqual(['upgrade', 'web', '/charts/web.tgz', '--values=-'])
    expect(request?.args).toContain('--namespace=tenant-a')
    await helm.install(key, chart, { values: 'exact: 1.10 # text\n' })
    expect(process.requests[1]?.stdin).toBe('exact: 1.10 # text\n')
  })

  it('does not let an upgrade without values keep those of the release', async () => {
    const { helm, process } = await open()
    await helm.upgrade(key, chart)
    expect(process.requests[0]).toMatchObject({ stdin: '{}' })
    expect(process.requests[0]?.args).toContain('--reset-values')
  })

  it('gives it its own folders and credentials, and nothing of the process environment', async () => {
    const mode = async (path: string) => (await stat(path)).mode & 0o777
    const answer = async (request: ProcessRequest) => {
      const { KUBECONFIG = '', ...env } = request.env
      expect(env).toMatchObject({ HOME: folder, SSL_CERT_FILE: '/ca' })
      expect(Object.keys(env)).not.toContain('HELM_PLUGINS')
      expect(env.HELM_CACHE_HOME).toBe(join(folder, 'cache'))
      expect(dirname(KUBECONFIG)).toBe(folder)
      expect(await mode(KUBECONFIG)).toBe(0o600)
      const kubeconfig = await kubeconfigOf(request)
      expect(kubeconfig.users[0].user).toEqual({ token: 'token-one' })
      expect(kubeconfig.clusters[0].cluster).toEqual({
        server: 'https://cluster.example.com',
        'certificate-authority-data': Buffer.from('PEM').toString('base64'),
        'tls-server-name': 'inner',
      })
      return exited({ stdout: JSON.stringify(printed) })
    }
    const env = { HELM_PLUGINS: '/evil', KUBECONFIG: '/mine', SSL_CERT_FILE: '/ca' }
    const { helm, process } = await open({ env, answer })
    await helm.upgrade(key, chart)
    expect(process.requests).toHaveLength(1)
    expect(await mode(folder)).toBe(0o700)
  })

  it('leaves no credentials behind, not even those of a driver that was killed', async () => {
    await writeFile(join(folder, 'kubeconfig-of-before'), 'token')
    const { helm } = await open({ answer: failing('Error: no') })
    await expect(helm.upgrade(key, chart)).rejects.toThrow(errors.HelmError)
    expect(await readdir(folder)).toEqual([])
  })

  it.each([
    [3, '--atomic', '--rollback-on-failure'],
    [4, '--rollback-on-failure', '--atomic'],
  ] as const)('uses the flags of Helm %i', async (major, used, unused) => {
    const { helm, process } = await open({
      major,
      answer: ({ args }) => exited({ stdout: args[0] === 'list' ? '[]' : JSON.stringify(printed) }),
    })
    await helm.upgrade(key, chart, {
      rollbackOnFailure: true,
      forceConflicts: true,
      labels: { 'a/b': 'c' },
      wait: true,
    })
    await helm.list()
    const args = process.requests[0]?.args ?? []
    expect(args).toContain(used)
    expect(args).not.toContain(unused)
    expect(args).toContain('--labels=a/b=c')
    expect(args.includes('--force-conflicts')).toBe(major === 4)
    expect(process.requests[1]?.args.includes('--all')).toBe(major === 3)
  })

  it('renders for an install or an upgrade without doing either, and leaves custom resource definitions out', async () => {
    const hook = { name: 'h', manifest: 'kind: Job' }
    const answer = () => exited({ stdout: JSON.stringify({ ...printed, hooks: [hook] }) })
    const { helm, process } = await open({ answer })
    expect(await helm.render(key, chart, { operation: 'install', values: { a: 1 } })).toMatchObject({
      hooks: ['kind: Job'],
    })
    await helm.render(key, chart, { operation: 'upgrade' })
    await helm.install(key, chart, { skipCrds: true })
    const [install, upgrade, real] = process.requests.map(({ args }) => args)
    expect(install?.slice(0, 2)).toEqual(['install', 'web'])
    expect(install).toContain('--dry-run=server')
    expect(upgrade).toEqual(expect.arrayContaining(['upgrade', '--dry-run=server', '--reset-values']))
    expect(real).toContain('--skip-crds')
    expect(real?.join(' ')).not.toContain('--dry-run')
  })

  it('gives helm time to fail by itself before it is killed, also when it has to roll back', async () => {
    const { helm, process } = await open()
    await helm.upgrade(key, chart, { timeoutMs: 10_000, wait: true })
    await helm.upgrade(key, chart, { timeoutMs: 10_000, rollbackOnFailure: true })
    expect(process.requests[0]).toMatchObject({ timeoutMs: 10_000 })
    expect(process.requests[0]?.args).toContain('--timeout=8000ms')
    expect(process.requests[1]?.args).toContain('--timeout=4000ms')
  })

  it.each([
    [{ ...key, name: '--post-renderer=/bin/sh' }, chart],
    [{ ...key, name: 'x'.repeat(54) }, chart],
    [{ ...key, name: 'Web' }, chart],
    [{ ...key, namespace: 'a,b' }, chart],
    [{ ...key, namespace: '' }, chart],
    [key, { path: 'stable/web' }],
    [key, { path: '--repo=https://evil.example.com' }],
  ])('rejects %j with %j before anything is started', async (release, reference) => {
    const { helm, process } = await open()
    await expect(helm.install(release, reference)).rejects.toThrow(errors.InvalidHelmRequestError)
    expect(process.requests).toEqual([])
  })

  it.each([0, -1, 1.5, Number.NaN])('rejects a rollback to revision %s', async (revision) => {
    const { helm, process } = await open()
    await expect(helm.rollback(key, revision)).rejects.toThrow(errors.InvalidHelmRequestError)
    expect(process.requests).toEqual([])
  })

  it('rejects labels that would become other flags or labels', async () => {
    const { helm } = await open()
    await expect(helm.install(key, chart, { labels: { a: 'b,owner=me' } })).rejects.toThrow('label a=b,owner=me')
  })
})

describe('credentials', () => {
  it('are fresh at every start', async () => {
    let token = 'token-one'
    const config = {
      ...cluster,
      credentials: { get: async () => ({ authorization: `Bearer ${token}` }), renew: async () => undefined },
    }
    const seen: string[] = []
    const answer = async (request: ProcessRequest) => {
      const { users } = await kubeconfigOf(request)
      seen.push(users[0].user.token)
      return exited({ stdout: '[]' })
    }
    const { helm } = await open({ config, answer })
    await helm.list()
    token = 'token-two'
    await helm.list()
    expect(seen).toEqual(['token-one', 'token-two'])
  })

  it('are renewed once when the cluster does not know them', async () => {
    const rejected: Credentials[] = []
    const credentials = {
      get: async () => ({ authorization: 'Bearer old-token' }),
      renew: async (old: Credentials) => {
        rejected.push(old)
        return { authorization: 'Bearer new-token' }
      },
    }
    const stderr =
      'Error: UPGRADE FAILED: kubernetes cluster unreachable: the server has asked for the client to provide credentials'
    const answer = async ({ env }: ProcessRequest) => {
      const text = await readFile(env.KUBECONFIG ?? '', 'utf8')
      return text.includes('new-token') ? exited({ stdout: '[]' }) : exited({ exitCode: 1, stderr })
    }
    const { helm, process } = await open({ config: { ...cluster, credentials }, answer })
    expect(await helm.list()).toEqual([])
    expect(process.requests).toHaveLength(2)
    expect(rejected).toEqual([{ authorization: 'Bearer old-token' }])
  })
})

describe('identity', () => {
  it('is that of the call, and nothing of the one that the cluster is reached with', async () => {
    const users: unknown[] = []
    const answer = async (request: ProcessRequest) => {
      users.push((await kubeconfigOf(request)).users[0].user)
      return exited({ stdout: JSON.stringify(printed) })
    }
    const config = { ...cluster, impersonate: { user: 'admin', groups: ['system:masters'] } }
    const { helm } = await open({ config, answer })
    const tenant = { impersonate: serviceAccount({ namespace: 'tenant-a', name: 'collector' }) }
    await Promise.all([helm.install(key, chart, tenant), helm.upgrade(key, chart)])
    expect(users).toContainEqual({ token: 'token-one', as: 'system:serviceaccount:tenant-a:collector' })
    expect(users).toContainEqual({ token: 'token-one', as: 'admin', 'as-groups': ['system:masters'] })
  })
})

describe('what becomes of output', () => {
  it.each(['', 'Release "web" upgraded', '[]', '{"name":"web"}'])('rejects %j as a release', async (stdout) => {
    const { helm } = await open({ answer: () => exited({ stdout }) })
    await expect(helm.upgrade(key, chart)).rejects.toThrow(errors.BadHelmOutputError)
  })

  it('rejects truncated output', async () => {
    const { helm } = await open({ answer: () => exited({ stdout: '[]', isTruncated: true }) })
    await expect(helm.list()).rejects.toThrow(errors.BadHelmOutputError)
  })

  it('treats a missing release as uninstalled', async () => {
    const { helm } = await open({ answer: failing('Error: uninstall: Release not loaded: web: release: not found') })
    expect(await helm.uninstall(key)).toBe(false)
  })

  it('keeps the secrets among the values out of errors, and those named, in clear and in base64', async () => {
    const encoded = Buffer.from('pass-phrase').toString('base64')
    const stderr = `Error: INSTALLATION FAILED: it said hunter2 and ${encoded}, named-one, Bearer token-one and 8 apples`
    const { helm } = await open({ answer: failing(stderr) })
    const values = { db: { adminPassword: 'hunter2' }, secrets: [{ any: 'pass-phrase' }], count: 8 }
    const error = await helm.install(key, chart, { values, secrets: ['named-one'] }).catch((reason: Error) => reason)
    expect(error).toBeInstanceOf(errors.HelmFailedError)
    expect(String(error)).toContain('helm install tenant-a/web: it said [redacted] and [redacted], [redacted]')
    expect(String(error)).toContain('8 apples')
    expect(String(error)).not.toContain('token-one')
  })

  it('keeps the password for the cluster out of errors, in every form that it takes', async () => {
    const packed = Buffer.from('admin:open sesame').toString('base64')
    const credentials = { get: async () => ({ authorization: `Basic ${packed}` }), renew: async () => undefined }
    const answer = failing(`Error: the proxy saw open sesame, and ${packed}`)
    const { helm } = await open({ answer, config: { ...cluster, credentials } })
    const error = await helm.upgrade(key, chart).catch((reason: Error) => reason)
    expect(String(error)).toContain('the proxy saw [redacted], and [redacted]')
  })

  it('keeps all values out of errors when they are secret', async () => {
    const { helm } = await open({ answer: failing('Error: cannot connect to postgres://db with 12345') })
    const values = 'url: postgres://db\nport: 12345\n'
    const error = await helm.upgrade(key, chart, { values, valuesAreSecret: true }).catch((reason: Error) => reason)
    expect(String(error)).toContain('cannot connect to [redacted] with [redacted]')
  })

  it('distinguishes a deadline of the driver from one of helm', async () => {
    const { helm } = await open({ answer: () => exited({ exitCode: null, endedBy: 'timeout' }) })
    const error = await helm.upgrade(key, chart, { timeoutMs: 10 }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'HELM_TIMEOUT', endedBy: 'driver' })
  })

  it('accepts a command that completed although it was stopped', async () => {
    const { helm } = await open({ answer: () => exited({ endedBy: 'timeout', stdout: JSON.stringify(printed) }) })
    expect(await helm.upgrade(key, chart)).toMatchObject({ revision: 2 })
  })

  it('names the executable that cannot be run', async () => {
    const { helm } = await open({ answer: () => Promise.reject(new Error('ENOENT')) })
    await expect(helm.list()).rejects.toThrow('/bin/helm cannot be run')
  })
})

describe('cancellation', () => {
  it('rejects with the reason of the signal', async () => {
    const abort = new AbortController()
    const answer = async ({ signal }: ProcessRequest) => {
      abort.abort(new Error('enough'))
      expect(signal?.aborted).toBe(true)
      return exited({ exitCode: 1, stderr: 'Error: context canceled', endedBy: 'abort' })
    }
    const { helm } = await open({ answer })
    await expect(helm.upgrade(key, chart, { signal: abort.signal })).rejects.toThrow('enough')
  })

  it('ends what runs and what waits when the driver is closed', async () => {
    const answer = ({ signal }: ProcessRequest) =>
      new Promise<ProcessOutcome>((resolve) => {
        signal?.addEventListener('abort', () => resolve(exited({ exitCode: 1, endedBy: 'abort' })))
      })
    const { helm, process } = await open({ answer, maxConcurrent: 1 })
    const calls = [helm.list(), helm.list()].map((call) => expect(call).rejects.toThrow('the helm driver was closed'))
    await expect.poll(() => process.requests.length).toBe(1)
    await helm.close()
    await Promise.all(calls)
    expect(process.requests).toHaveLength(1)
  })
})

describe('recover', () => {
  const pending = (status: 'pending-install' | 'pending-upgrade') => [
    { revision: 1, status: 'deployed' as const },
    { revision: 2, status, lastDeployed: '2026-01-01T00:00:00Z' },
  ]

  it('does nothing about a healthy or missing release, without a process if the history is given', async () => {
    const { helm, process } = await open()
    expect(await helm.recover(key, { history: [] })).toEqual({ action: 'none' })
    expect(process.requests).toEqual([])
  })

  it('rolls back an interrupted upgrade and removes an interrupted install', async () => {
    const { helm, process } = await open()
    expect(await helm.recover(key, { history: pending('pending-upgrade') })).toEqual({
      action: 'rollback',
      revision: 1,
    })
    expect(process.requests[0]?.args.slice(0, 3)).toEqual(['rollback', 'web', '1'])
    expect(await helm.recover(key, { history: pending('pending-install') })).toEqual({ action: 'uninstall' })
    expect(process.requests[1]?.args.slice(0, 2)).toEqual(['uninstall', 'web'])
  })

  it('does not touch one whose author may be running', async () => {
    const clock = { now: () => Date.parse('2026-01-01T00:01:00Z'), schedule: () => ({ cancel: () => undefined }) }
    const { helm, process } = await open({ clock })
    const plan = await helm.recover(key, { history: pending('pending-upgrade'), staleAfterMs: 90_000 })
    expect(plan).toEqual({ action: 'wait', retryAfterMs: 30_000 })
    expect(process.requests).toEqual([])
  })
})
