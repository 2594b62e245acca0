/** The example of the README: from a registry to a release, and its state without a process. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChartStore, readReleases, valuesDigest } from '@reeve/helm'
import { ChartServer, packChart } from '@reeve/helm/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { webChart } from './support/chart-files.ts'
import { type HelmSession, helmPath, startHelmSession } from './support/helm-session.ts'

describe.skipIf(helmPath === undefined)('a chart of a registry (skipped without helm)', () => {
  let session: HelmSession
  let registry: ChartServer
  let folder: string

  beforeAll(async () => {
    session = await startHelmSession()
    registry = await ChartServer.start()
    folder = await mkdtemp(join(tmpdir(), 'reeve-chart-to-release-'))
    registry.add('web', '1.2.3', packChart({ name: 'web', version: '1.2.3' }, webChart('1.2.3')))
  })
  afterAll(async () => {
    await session.close()
    await registry[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  test('becomes a release whose record has chart and values', async () => {
    const { helm, client, namespace } = session
    const charts = new ChartStore(folder, { env: {} })
    const credentials = { certificateAuthority: registry.certificate }
    const chart = await charts.resolve({ type: 'oci', url: registry.oci('web'), version: '^1.2', credentials })
    const release = { namespace, name: 'web' }
    await helm.install(release, chart, { values: { replicas: 0 } })

    const current = (await readReleases(client, release)).at(-1)
    expect(current).toMatchObject({ status: 'deployed', chart: { name: 'web', version: '1.2.3' } })
    expect(valuesDigest(current?.values ?? {})).toBe(valuesDigest({ replicas: 0 }))
  })
})
