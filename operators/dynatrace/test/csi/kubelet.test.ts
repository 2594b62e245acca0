/** The driver beside a kubelet, from registration to the end of its pods. */
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { csiNode, missingRights } from './support/csi-node.ts'
import { Kubelet, kubeletPod } from './support/kubelet.ts'

const DRIVER = 'csi.oneagent.dynatrace.com'
const APP = { mode: 'app', dynakube: 'dk', retryTimeout: '10m0s' }

describe.skipIf(missingRights())('a kubelet (skipped without root)', () => {
  it('registers the driver, mounts agents into pods as soon as there is one, and forgets the driver', async () => {
    await using node = await csiNode()
    const folder = join(node.data, '..')
    const kubelet = new Kubelet(join(folder, 'kubelet'))
    await mkdir(kubelet.registry, { recursive: true })
    await kubelet.scan()
    const pod = kubeletPod('web-0', APP)
    const starting = kubelet.start(pod)
    await until('a pod that waits for its driver', () => kubelet.failures.length > 0)

    const flags = [
      `--kubelet-registration-path=${join(folder, 'csi.sock')}`,
      `--plugin-registration-path=${kubelet.registry}`,
    ]
    const driver = await node.start({}, flags)
    await until('the registration', async () => {
      await kubelet.scan()
      return kubelet.plugins.has(DRIVER)
    })
    await until('a log of it', () => driver.log().includes('the kubelet registered the driver'))
    await until('a pod that waits for its agent', () =>
      kubelet.failures.some((failure) => 'details' in failure && failure.details.includes('provisioner')),
    )
    await node.installModule('1.2.3.4-5', 'dk')
    await starting
    const seen = node.seen(join(kubelet.target(pod), 'agent/installer.version'))
    expect(await readFile(seen, 'utf8')).toBe('1.2.3.4-5')

    await driver.stop('SIGKILL')
    const again = await node.start({}, flags)
    await until('the second registration', async () => {
      await kubelet.scan().catch(() => undefined)
      return again.log().includes('the kubelet registered the driver')
    })
    expect(await readFile(seen, 'utf8')).toBe('1.2.3.4-5')
    await kubelet.stop(pod)
    expect(await node.mounts()).toEqual([])
    expect([await readdir(join(node.data, 'appmounts')), await readdir(join(kubelet.root, 'pods'))]).toEqual([[], []])

    expect(await again.stop()).toBe(0)
    await kubelet.scan()
    expect([...kubelet.plugins]).toEqual([])
  })

  it('starts a pod without an agent when none can be installed in time', async () => {
    await using node = await csiNode()
    const folder = join(node.data, '..')
    const kubelet = new Kubelet(join(folder, 'kubelet'))
    const driver = await node.start()
    kubelet.plugins.set(DRIVER, join(folder, 'csi.sock'))
    const pod = kubeletPod('web-0', { ...APP, retryTimeout: '200ms' })
    await kubelet.start(pod)
    expect(kubelet.failures.length).toBeGreaterThan(0)
    expect(await node.mounts()).toEqual([])
    await kubelet.stop(pod)
    expect(await readdir(join(node.data, 'appmounts'))).toEqual([])
    expect(await driver.stop()).toBe(0)
  })
})
