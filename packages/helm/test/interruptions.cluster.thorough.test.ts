/** What happens to the real helm, and to a release, when something ends in the middle. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BRIEF_CLIENT } from '@reeve/client-binaries'
import { type ReleaseKey, type RunProcess, readReleases, runProcess } from '@reeve/helm'
import { encodeRelease } from '@reeve/helm/testing'
import { Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, type HelmSession, helmPath, helms, startHelmSession } from './support/helm-session.ts'

describe.skipIf(helmPath === undefined).each(helms)('an interruption of $name', ({ path }) => {
  let session: HelmSession

  beforeAll(async () => {
    session = await startHelmSession(path)
  })
  afterAll(() => session.close())

  const key = (name: string) => ({ namespace: session.namespace, name })
  const stuck = { replicas: 1, stuck: true }
  const statuses = async (release: ReleaseKey) =>
    (await readReleases(session.client, release)).map(({ status }) => status)
  const isPending = async (release: ReleaseKey) =>
    (await statuses(release)).at(-1)?.startsWith('pending') ? true : undefined

  /** Runs helm directly and kills it when the release is pending, as when a machine fails. */
  async function crash(verb: 'install' | 'upgrade', release: ReleaseKey): Promise<void> {
    const { chart, cluster, folder, helm } = session
    const set = Object.entries(stuck).map(([name, value]) => `--set=${name}=${value}`)
    const args = [verb, release.name, chart.path, `--namespace=${release.namespace}`, '--wait', ...set]
    const child = spawn(helm.binary.path, args, {
      env: { HOME: folder, KUBECONFIG: cluster.kubeconfigPath, ...BRIEF_CLIENT },
      stdio: 'ignore',
    })
    await eventually(() => isPending(release))
    child.kill('SIGKILL')
    await once(child, 'close')
  }

  /** Processes that run with a kubeconfig of `folder`. */
  async function processesOf(folder: string): Promise<readonly string[]> {
    const found: string[] = []
    for await (const file of glob('/proc/[0-9]*/environ')) {
      const environment = await readFile(file, 'utf8').catch(() => '')
      if (environment.includes(`KUBECONFIG=${folder}/`)) found.push(file)
    }
    return found
  }

  test.concurrent('of an install is recovered by removing it', async ({ expect }) => {
    const { helm, chart, api } = session
    await crash('install', key('first'))
    await expect(helm.upgrade(key('first'), chart)).rejects.toMatchObject({ code: 'HELM_OPERATION_IN_PROGRESS' })
    expect(await helm.recover(key('first'))).toMatchObject({ action: 'wait' })
    expect(await helm.recover(key('first'), { staleAfterMs: 0 })).toEqual({ action: 'uninstall' })
    expect(await statuses(key('first'))).toEqual([])
    await expect.poll(async () => (await api('configmaps/first')).status, { timeout: 20_000 }).toBe(404)
    expect(await helm.recover(key('first'))).toEqual({ action: 'none' })
    expect(await helm.install(key('first'), chart, { values: { replicas: 0 } })).toMatchObject({ status: 'deployed' })
  })

  test.concurrent('of an upgrade is recovered by returning to what was deployed', async () => {
    const { helm, chart, api, client } = session
    await helm.install(key('second'), chart, { values: { replicas: 0, greeting: 'good' } })
    await crash('upgrade', key('second'))
    const history = await readReleases(client, key('second'))
    expect(await helm.recover(key('second'), { history, staleAfterMs: 0 })).toEqual({
      action: 'rollback',
      revision: 1,
    })
    expect(await statuses(key('second'))).toEqual(['superseded', 'pending-upgrade', 'deployed'])
    const { data } = (await api('configmaps/second')).json<{ data: { greeting: string } }>()
    expect(data.greeting).toBe('good')
    expect(await helm.upgrade(key('second'), chart, { values: { replicas: 0 } })).toMatchObject({
      revision: 4,
      status: 'deployed',
    })
  })

  test.concurrent('of an uninstall is recovered by finishing it', async ({ expect }) => {
    const { helm, api, client } = session
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'third' } }
    await api('configmaps', { method: 'POST', body: object })
    const record = encodeRelease({ ...key('third'), status: 'uninstalling', manifest: JSON.stringify(object) })
    await client.create(Secrets, record)
    expect(await helm.recover(key('third'))).toEqual({ action: 'uninstall' })
    expect(await statuses(key('third'))).toEqual([])
    await expect.poll(async () => (await api('configmaps/third')).status, { timeout: 20_000 }).toBe(404)
  })

  /** A driver whose helm soon stops waiting, long before its own deadline. */
  const impatient = (seconds: number) =>
    session.open({
      runProcess: (request) =>
        runProcess({ ...request, args: request.args.map((arg) => arg.replace(/(?<=^--timeout=).*/, `${seconds}s`)) }),
    })

  test.concurrent('by helm itself, which waited long enough, leaves a failed release that can be upgraded', async () => {
    const { chart } = session
    const helm = await impatient(1)
    const late = helm.install(key('late'), chart, { values: stuck, wait: true })
    await expect(late).rejects.toMatchObject({ code: 'HELM_TIMEOUT', endedBy: 'helm' })
    expect(await statuses(key('late'))).toEqual(['failed'])
    expect(await helm.upgrade(key('late'), chart, { values: { replicas: 0 } })).toMatchObject({ status: 'deployed' })
  })

  test.concurrent('of an upgrade that fails is rolled back if requested', async () => {
    const { chart } = session
    // Undoing has to end within the same time.
    const helm = await impatient(4)
    await helm.install(key('undone'), chart, { values: { replicas: 0 } })
    const upgrade = helm.upgrade(key('undone'), chart, { values: stuck, rollbackOnFailure: true })
    await expect(upgrade).rejects.toMatchObject({ code: 'HELM_TIMEOUT' })
    expect(await statuses(key('undone'))).toEqual(['superseded', 'failed', 'deployed'])
  })

  test.concurrent('by the caller lets helm record the failure, and leaves no process', async () => {
    const folder = join(session.folder, 'cancelled')
    const helm = await session.open({ folder })
    const abort = new AbortController()
    const install = helm.install(key('cancelled'), session.chart, { values: stuck, wait: true, signal: abort.signal })
    const outcome = expect(install).rejects.toThrow('not today')
    await eventually(() => isPending(key('cancelled')))
    expect(await processesOf(folder)).toHaveLength(1)
    abort.abort(new Error('not today'))
    await outcome
    expect(await processesOf(folder)).toEqual([])
    expect(await statuses(key('cancelled'))).toEqual(['failed'])
  })

  test.concurrent('by the deadline of the driver ends the process, regardless of the deadline of helm', async () => {
    const folder = join(session.folder, 'overdue')
    const withoutTimeout: RunProcess = (request) =>
      runProcess({ ...request, args: request.args.filter((arg) => !arg.startsWith('--timeout=')) })
    const helm = await session.open({ folder, runProcess: withoutTimeout })
    const install = helm.install(key('overdue'), session.chart, { values: stuck, wait: true, timeoutMs: 1_000 })
    await expect(install).rejects.toMatchObject({ code: 'HELM_TIMEOUT', endedBy: 'driver' })
    expect(await processesOf(folder)).toEqual([])
  })

  test.concurrent('does not affect commands in the queue: no more run concurrently than allowed', async () => {
    let running = 0
    let most = 0
    const counting: RunProcess = async (request) => {
      most = Math.max(most, ++running)
      try {
        return await runProcess(request)
      } finally {
        running--
      }
    }
    const helm = await session.open({ runProcess: counting, maxConcurrent: 2 })
    await Promise.all(Array.from({ length: 6 }, () => helm.list({ namespace: session.namespace })))
    expect(most).toBe(2)
  })
})
