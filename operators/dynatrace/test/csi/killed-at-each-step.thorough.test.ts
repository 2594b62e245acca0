/** The driver killed before each change that it makes: after a restart every volume is right or absent. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CsiNode, csiNode, missingRights, type PodVolume } from './support/csi-node.ts'
import { eachStep, killAt, missingTracer, ONE_THREAD, type Step } from './support/killed-at-step.ts'

const OK = { response: {} }
const APP: PodVolume = { pod: 'web' }
const HOST: PodVolume = { pod: 'agent', namespace: 'dynatrace', attributes: { mode: 'host', dynakube: 'dk' } }

async function leftovers(node: CsiNode) {
  const names = (path: string) => readdir(join(node.data, path)).catch(() => [])
  const mounts = (await node.mounts()).map(({ mountPoint }) => mountPoint)
  return { mounts, volumes: await names('appmounts'), links: await names('_dynakubes/dk/appmounts') }
}
const NOTHING = { mounts: [], volumes: [], links: [] }

/** Publishes and unpublishes in a driver that is killed at a step; returns whether it was. */
async function isKilled(node: CsiNode, volume: PodVolume, step: Step): Promise<boolean> {
  const driver = await node.start(ONE_THREAD)
  await killAt(driver.process.pid, step)
  try {
    for (const call of [driver.publish, driver.unpublish]) if (!('response' in (await call(volume)))) return true
    return false
  } finally {
    await driver.stop('SIGKILL')
  }
}

const missing = missingRights() ?? missingTracer()
describe.skipIf(missing)(`a driver killed before each of its changes${missing ? ` (skipped: ${missing})` : ''}`, () => {
  it.each([
    ['an application', APP, 2],
    ['a host agent', HOST, 1],
  ])('can publish the volume of %s when the pod is still there', { timeout: 900_000 }, async (_, volume, mounts) => {
    await using node = await csiNode()
    const module = await node.installModule('1.2.3.4-5', 'dk')
    const steps = await eachStep(async (step) => {
      if (!(await isKilled(node, volume, step))) return false
      const driver = await node.start()
      expect([step, await driver.publish(volume)]).toEqual([step, OK])
      expect((await node.mounts()).length).toBe(mounts)
      if (volume === APP) {
        const seen = node.seen(join(node.targetOf(volume), 'agent/installer.version'))
        expect(await readFile(seen, 'utf8')).toBe(await readFile(join(module, 'agent/installer.version'), 'utf8'))
      }
      expect(await driver.unpublish(volume)).toEqual(OK)
      expect([step, await leftovers(node)]).toEqual([step, NOTHING])
      await driver.stop()
      return true
    })
    expect(steps).toBeGreaterThan(volume === APP ? 12 : 3)
  })

  it.each([
    ['an application', APP],
    ['a host agent', HOST],
  ])('leaves nothing of the volume of %s when the pod is gone', { timeout: 900_000 }, async (_, volume) => {
    await using node = await csiNode()
    await node.installModule('1.2.3.4-5', 'dk')
    const steps = await eachStep(async (step) => {
      if (!(await isKilled(node, volume, step))) return false
      const driver = await node.start()
      expect([step, await driver.unpublish(volume)]).toEqual([step, OK])
      expect([step, await leftovers(node)]).toEqual([step, NOTHING])
      await driver.stop()
      return true
    })
    expect(steps).toBeGreaterThan(volume === APP ? 12 : 3)
  })
})
