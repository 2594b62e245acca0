/** The driver after a crash, a restart and a change of its node. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { csiClient } from './support/csi-client.ts'
import { type CsiNode, csiNode, missingRights } from './support/csi-node.ts'

const OK = { response: {} }
const volume = { pod: 'web-0' }

/** Mounts the overlay of a volume, as a driver does that is killed right afterwards. */
async function mountOverlay(node: CsiNode, times = 1): Promise<void> {
  const lower = await node.installModule('1.2.3.4-5', 'dk')
  const folder = join(node.data, 'appmounts', node.idOf(volume))
  for (const name of ['mapped', 'var', 'work']) await mkdir(join(folder, name), { recursive: true })
  const options = `lowerdir=${lower},upperdir=${join(folder, 'var')},workdir=${join(folder, 'work')}`
  for (let count = 0; count < times; count++) {
    await node.execute('mount', '-t', 'overlay', '-o', options, 'overlay', join(folder, 'mapped'))
  }
}

// Each on a node of its own: they mostly wait for processes.
describe.skipIf(missingRights())('a driver that is started again (skipped without root)', { concurrent: true }, () => {
  it('does not touch the volumes of running pods, and can still unpublish them', async () => {
    await using node = await csiNode()
    const first = await node.start()
    await node.installModule('1.2.3.4-5', 'dk')
    expect(await first.publish(volume)).toEqual(OK)
    await first.stop('SIGKILL')
    const before = await node.mounts()
    expect(before).toHaveLength(2)
    const second = await node.start()
    expect(await node.mounts()).toEqual(before)
    expect(await second.publish(volume)).toEqual(OK)
    expect(await node.mounts()).toEqual(before)
    expect(await second.unpublish(volume)).toEqual(OK)
    expect(await node.mounts()).toEqual([])
    expect(await readdir(join(node.data, 'appmounts'))).toEqual([])
    expect(await second.stop()).toBe(0)
  })

  it('leaves its directory of volumes only as long as there are volumes, and creates it again', async () => {
    await using node = await csiNode()
    const first = await node.start()
    await node.installModule('1.2.3.4-5', 'dk')
    expect(await first.publish(volume)).toEqual(OK)
    expect(await first.stop()).toBe(0)
    expect(await readdir(join(node.data, 'appmounts'))).toEqual([node.idOf(volume)])
    const second = await node.start()
    expect(await second.unpublish(volume)).toEqual(OK)
    expect(await second.stop()).toBe(0)
    expect(await readdir(node.data)).not.toContain('appmounts')
    const third = await node.start()
    expect(await third.publish(volume)).toEqual(OK)
    expect(await node.mounts()).toHaveLength(2)
  })

  it('removes an overlay that no pod sees, and mounts it once when it is called again', async () => {
    await using node = await csiNode()
    await mountOverlay(node)
    const driver = await node.start()
    expect(await node.mounts()).toEqual([])
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await node.mounts()).toHaveLength(2)
  })

  it('unmounts overlays that were stacked meanwhile', async () => {
    await using node = await csiNode()
    const driver = await node.start()
    await mountOverlay(node, 2)
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await node.mounts()).toHaveLength(2)
    expect(await driver.unpublish(volume)).toEqual(OK)
    expect(await node.mounts()).toEqual([])
  })

  it('fails while it cannot write its data, and lets a pod start without an agent after its time-out', async () => {
    await using node = await csiNode()
    const driver = await node.start()
    await node.installModule('1.2.3.4-5', 'dk')
    const inTheWay = join(node.data, 'appmounts')
    await writeFile(inTheWay, '')
    expect(await driver.publish(volume)).toMatchObject({ code: 13, details: expect.stringContaining('appmounts') })
    const hasty = { pod: 'hasty', attributes: { mode: 'app', dynakube: 'dk', retryTimeout: '50ms' } }
    expect(await driver.publish(hasty)).toMatchObject({ code: 13 })
    await until('the time-out', async () => 'response' in (await driver.publish(hasty)))
    expect(await node.mounts()).toEqual([])
    expect(await driver.publish(volume)).toMatchObject({ code: 13 })
    await rm(inTheWay)
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await node.mounts()).toHaveLength(2)
  })

  it('is its own registrar and liveness probe if its flags enable it', async () => {
    await using node = await csiNode()
    const registrations = join(node.data, '..')
    const flags = ['--kubelet-registration-path=/node/csi.sock', `--plugin-registration-path=${registrations}`]
    const driver = await node.start({}, [...flags, '--health-port=0'])
    await until(
      'registrar and probe',
      () => driver.log().includes('serving /healthz') && driver.log().includes('-reg.sock'),
    )
    const [, port] = /"port":(\d+)\},"msg":"serving \/healthz"/.exec(driver.log()) ?? []
    expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()).toBe('ok')
    using kubelet = csiClient(join(registrations, 'csi.oneagent.dynatrace.com-reg.sock'))
    expect(await kubelet.call('pluginregistration.Registration/GetInfo')).toMatchObject({
      response: { endpoint: '/node/csi.sock' },
    })
    expect(await driver.stop()).toBe(0)
    expect((await readdir(registrations)).filter((name) => name.endsWith('.sock'))).toEqual([])
  })
})
