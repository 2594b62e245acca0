/** `csi-provisioner` as a process beside a cluster and a tenant. */
import { mkdir, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DynaKubes } from '../../src/api/latest.ts'
import { until } from '../support/until.ts'
import { type ProvisionerWorld, provisionerWorld } from './support/provisioner-process.ts'
import { NAMESPACE, TENANT } from './support/provisioner-stage.ts'

let world: ProvisionerWorld
beforeAll(async () => {
  world = await provisionerWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

it('the provisioner deletes what DynaKubes left that were deleted while it did not run, and follows the others until SIGTERM', async () => {
  const dataRoot = join(world.folder, 'data')
  await mkdir(join(dataRoot, 'codemodules/1.0.0.0-1/agent'), { recursive: true })
  await mkdir(join(dataRoot, '_dynakubes/deleted'), { recursive: true })
  const provisioner = world.start({ dataRoot, env: { CLEANUP_PERIOD: 'soon' } })
  const isEmpty = async () => (await readdir(dataRoot)).length === 0
  await until('the clean-up at the start', isEmpty)

  const [older = '', newer = ''] = world.simulator.tenant(TENANT).versions.available()
  await world.dynakube('dk', older)
  const { paths } = provisioner
  const points = (version: string) => async () =>
    (await readlink(paths.latestCodeModule('dk')).catch(() => '')) === paths.codeModule(version)
  await until('the first agent', points(older))
  await world.setVersion('dk', newer)
  await until('the second agent', points(newer))

  expect(provisioner.log()).toContain('CLEANUP_PERIOD is not a duration')
  const ports = [...provisioner.log().matchAll(/"port":(\d+)/g)].map(([, port]) => port)
  const responses = await Promise.all(
    ports.flatMap((port) => ['livez', 'metrics'].map((path) => fetch(`http://127.0.0.1:${port}/${path}`))),
  )
  const texts = await Promise.all(responses.filter(({ ok }) => ok).map((response) => response.text()))
  expect(texts.some((text) => text.includes('dynatrace_csi_provisioner_installs_total'))).toBe(true)
  expect(texts).toContain('ok')

  await world.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'dk' })
  await until('the clean-up', isEmpty)
  expect(await provisioner.stop()).toBe(0)
  // Neither tokens nor the password of anything reach the log.
  const token = world.simulator.tenant(TENANT).tokens.get('apiToken')?.value ?? ''
  expect(provisioner.log()).not.toContain(token.split('.').at(-1))
})
