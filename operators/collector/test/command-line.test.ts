/** The operator as a process, with the samples. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Leases } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Collector, Collectors } from '../src/index.ts'
import { startCommand } from './support/operator-process.ts'
import { helmPath, type Stage, setStage } from './support/stage.ts'

const here = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

describe.skipIf(helmPath === undefined)('the command line (skipped without helm)', () => {
  let stage: Stage

  beforeAll(async () => {
    stage = await setStage()
  })
  afterAll(() => stage?.close())

  test('installs the sample, stops on a signal, and continues as one of several replicas with shards', async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'reeve-scratch-'))
    const args = ['run', `--settings=${here('samples/settings.yaml')}`, `--admin-namespaces=${stage.namespace}`]
    const { child, ended } = startCommand(stage, [...args, '--health-port=0'], {
      TMPDIR: scratch,
      NODE_DISABLE_COMPILE_CACHE: '1',
    })
    const sample = parse(await readFile(here('samples/acme.yaml'), 'utf8')) as Collector
    const { namespace } = stage
    await stage.client.create(Collectors, { ...sample, metadata: { ...sample.metadata, namespace } })
    const { status } = await stage.untilPhase('acme-logs', 'Available', 1)
    expect(status).toMatchObject({ namespace: 'acme', releaseName: 'log-collector-eu1', chartVersion: '1.0.0' })
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0 })
    // Neither charts nor the credentials that helm was given stay behind.
    expect(await readdir(scratch)).toEqual([])
    await rm(scratch, { recursive: true })

    const sharded = startCommand(stage, [...args, '--shards=2', `--lease-namespace=${namespace}`, '--health-port=0'])
    await stage.client.delete(Collectors, { namespace, name: 'acme-logs' })
    await stage.until(async () => (await stage.client.list(Collectors, { namespace })).items.length === 0)
    const { items } = await stage.client.list(Leases, { namespace, labelSelector: 'reeve.dev/sharding' })
    expect(items.map(({ metadata }) => metadata.name)).toContainEqual(
      expect.stringMatching(/^collector-operator-shard-/),
    )
    sharded.child.kill('SIGTERM')
    expect(await sharded.ended).toMatchObject({ code: 0 })
  })

  test('checks a file, and says what is wrong with settings', async () => {
    const sound = await startCommand(stage, ['validate', '-f', here('samples/acme.yaml')]).ended
    expect(sound).toEqual({ code: 0, output: '1 resource checked, 0 errors, 0 warnings\n' })
    const bad = await startCommand(stage, ['run', '--settings', here('samples/acme.yaml')]).ended
    expect(bad).toMatchObject({ code: 1, output: expect.stringMatching(/the settings are not valid: .*clusters/) })
  })
})
