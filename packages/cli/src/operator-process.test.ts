import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@reeve/runtime'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openOperatorProcess } from './operator-process.ts'
import { addRunOptions, addShardOption, type RunOptions } from './run-options.ts'

let folder: string
let kubeconfig: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'operator-process-'))
  kubeconfig = join(folder, 'kubeconfig')
  const config = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'me' } }],
    clusters: [{ name: 'here', cluster: { server: 'https://127.0.0.1:6443' } }],
    users: [{ name: 'me', user: { token: 'secret' } }],
  }
  await writeFile(kubeconfig, JSON.stringify(config))
})
afterAll(() => rm(folder, { recursive: true }))

/** The parts of the process of `greeter run` with these arguments. */
async function open(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const cli = addShardOption(addRunOptions(new Command(), 'greeter')).parse(args, { from: 'user' })
  const stderr = { write: () => true, hasColors: false }
  const logger = async () => silentLogger
  const context = { version: '1.2.3', env: { KUBECONFIG: kubeconfig, ...env }, logger, stderr }
  return openOperatorProcess('greeter', cli.opts<RunOptions>(), context)
}

describe('the process of an operator', () => {
  it('connects to the cluster of the environment, or of the command line', async () => {
    await using byEnvironment = await open([])
    expect(byEnvironment.config.server).toBe('https://127.0.0.1:6443')
    await using byOption = await open(['--kubeconfig', kubeconfig], { KUBECONFIG: '/nowhere' })
    expect(byOption.config.server).toBe('https://127.0.0.1:6443')
    await expect(open(['--kubeconfig', '/nowhere'])).rejects.toThrow('/nowhere')
  })

  it('is the leader from the start, serves health and metrics on one port, and no webhooks', async () => {
    await using own = await open(['--health-port', '9090'])
    const { leaderElection, healthAddress, metricsAddress, instance } = own.frame
    expect({ leaderElection, healthAddress, metricsAddress, instance }).toEqual({
      leaderElection: undefined,
      healthAddress: { port: 9090 },
      metricsAddress: { port: 9090 },
      instance: hostname(),
    })
    expect(own.webhook('validating')).toBeUndefined()
  })

  it('upgrades its CRDs only when that is asked for, with the Service of its webhooks', async () => {
    await using plain = await open([])
    expect(plain.frame.upgradeCrds).toBeUndefined()
    await using upgrading = await open(['--upgrade-crds'])
    expect(upgrading.frame.upgradeCrds).toEqual({ version: '1.2.3' })
    await using converting = await open(['--upgrade-crds', '--webhook'], { POD_NAMESPACE: 'system' })
    const location = { service: { namespace: 'system', name: 'greeter' } }
    expect(converting.frame.upgradeCrds).toEqual({ version: '1.2.3', location })
  })

  it('is observed by a console only when that is asked for', async () => {
    await using plain = await open([])
    expect(plain.frame.observer).toBeUndefined()
    await using observed = await open(['--console', '--console-port', '0'])
    expect(observed.frame.observer).toBeDefined()
    // The page is built.
  }, 120_000)

  it.each([
    ['default', [], {}],
    ['ops', [], { POD_NAMESPACE: 'ops' }],
    ['chosen', ['--lease-namespace', 'chosen'], { POD_NAMESPACE: 'ops' }],
  ])('keeps its Lease and certificate in the namespace %s', async (namespace, args, env) => {
    await using own = await open(['--leader-elect', '--webhook', ...args], { ...env, POD_NAME: 'greeter-0' })
    expect(own.frame.leaderElection).toEqual({ lease: { namespace, name: 'greeter' }, identity: 'greeter-0' })
    expect(own.webhook('validating')).toMatchObject({
      address: { port: 9443 },
      certificate: {
        secret: { namespace, name: 'greeter-certificate' },
        hosts: expect.arrayContaining([`greeter.${namespace}.svc`]),
      },
      inject: { validating: ['greeter'] },
    })
  })

  it('is another candidate than a second process on the same host', async () => {
    await using one = await open(['--leader-elect'])
    await using two = await open(['--leader-elect'])
    expect(one.frame.leaderElection?.identity).not.toBe(two.frame.leaderElection?.identity)
  })

  it('divides the resources among replicas with --shards, instead of electing a leader', async () => {
    const cli = addShardOption(addRunOptions(new Command(), 'greeter'))
      .exitOverride()
      .configureOutput({ writeErr: () => undefined })
    expect(() => cli.parse(['--shards', '8', '--leader-elect'], { from: 'user' })).toThrow('cannot be used with')
    await using own = await open(['--shards', '8'], { POD_NAMESPACE: 'ops', POD_NAME: 'greeter-0' })
    const { leaderElection, sharding } = own.frame
    expect(leaderElection).toBeUndefined()
    expect(sharding).toMatchObject({ lease: { namespace: 'ops', name: 'greeter' }, shards: 8 })
    // A container that is started again must not continue as the one before.
    expect(sharding?.identity).toMatch(/^greeter-0_[0-9a-f-]{36}$/)
  })

  it('uses a certificate from files, without changing CA bundles', async () => {
    await using own = await open(['--webhook', '--webhook-cert-dir', '/certificates'])
    const webhook = own.webhook('mutating', 'validating')
    expect(webhook).toMatchObject({ certificate: { directory: '/certificates' } })
    expect(webhook).not.toHaveProperty('inject')
  })
})
