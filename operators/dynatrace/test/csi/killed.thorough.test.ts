/** The driver killed while it publishes and unpublishes: after a restart every volume is right or absent. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type CsiNode, csiNode, missingRights, type PodVolume } from './support/csi-node.ts'

const OK = { response: {} }
const MOMENTS = 20
/** More than the driver works on at once, so that some are not started when it is killed. */
const VOLUMES: readonly PodVolume[] = [
  ...Array.from({ length: 6 }, (_, index) => ({ pod: `web-${index}` })),
  ...Array.from({ length: 2 }, (_, index) => ({
    pod: `agent-${index}`,
    namespace: 'dynatrace',
    attributes: { mode: 'host', dynakube: 'dk' },
  })),
]

/** Mounts per volume when all is well: overlay and bind, or bind only. */
const EXPECTED = 6 * 2 + 2

async function leftovers(node: CsiNode) {
  const names = (path: string) => readdir(join(node.data, path)).catch(() => [])
  return {
    mounts: (await node.mounts()).length,
    volumes: await names('appmounts'),
    links: await names('_dynakubes/dk/appmounts'),
  }
}

describe.skipIf(missingRights())('a driver killed while it works on volumes (skipped without root)', () => {
  it(`leaves no stray mount or directory, at ${MOMENTS} moments`, { timeout: 900_000 }, async () => {
    await using node = await csiNode()
    await node.installModule('1.2.3.4-5', 'dk')
    for (let moment = 0; moment < MOMENTS; moment++) {
      const first = await node.start()
      const publishing = VOLUMES.map((volume) => first.publish(volume))
      await pause(moment)
      await first.stop('SIGKILL')
      await Promise.all(publishing)

      const second = await node.start()
      expect(await Promise.all(VOLUMES.map((volume) => second.publish(volume)))).toEqual(VOLUMES.map(() => OK))
      expect((await node.mounts()).length).toBe(EXPECTED)
      const unpublishing = VOLUMES.map((volume) => second.unpublish(volume))
      await pause((moment * 7) % 20)
      await second.stop('SIGKILL')
      await Promise.all(unpublishing)

      const third = await node.start()
      expect(await Promise.all(VOLUMES.map((volume) => third.unpublish(volume)))).toEqual(VOLUMES.map(() => OK))
      expect(await leftovers(node)).toEqual({ mounts: 0, volumes: [], links: [] })
      expect(await third.stop()).toBe(0)
    }
  })
})
