/** The operator as a process of its own, with the samples. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Collector, Collectors } from '../src/index.ts'
import { helmPath, type Stage, setStage } from './support/stage.ts'

const here = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** The sample settings name folders from the root of the repository. */
const ROOT = here('../..')

describe.skipIf(helmPath === undefined)('the command line (skipped where there is no helm)', () => {
  let stage: Stage

  beforeAll(async () => {
    stage = await setStage()
  })
  afterAll(() => stage?.close())

  function start(...args: readonly string[]) {
    const env = { PATH: process.env.PATH, HELM_BIN: helmPath, KUBECONFIG: stage.cluster.kubeconfigPath }
    const child = spawn(process.execPath, [here('bin/collector-operator.js'), ...args], { cwd: ROOT, env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }))
    return { child, ended }
  }

  test('brings the sample up and stops when it is told to', async () => {
    const { child, ended } = start('run', '--settings', here('samples/settings.yaml'), '--health-port', '0')
    const sample = parse(await readFile(here('samples/acme.yaml'), 'utf8')) as Collector
    const { namespace } = stage
    await stage.client.create(Collectors, { ...sample, metadata: { ...sample.metadata, namespace } })
    const { status } = await stage.untilPhase('acme-logs', 'Available', 1)
    expect(status).toMatchObject({ namespace: 'acme', releaseName: 'log-collector-eu1', chartVersion: '1.0.0' })
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0 })
  })

  test('checks a file, and says what is wrong with settings', async () => {
    const sound = await start('validate', '-f', here('samples/acme.yaml')).ended
    expect(sound).toEqual({ code: 0, output: 'Collectors checked: 1, errors: 0\n' })
    const bad = await start('run', '--settings', here('samples/acme.yaml')).ended
    expect(bad).toMatchObject({ code: 1, output: expect.stringMatching(/the settings cannot be used: .*clusters/) })
  })
})
