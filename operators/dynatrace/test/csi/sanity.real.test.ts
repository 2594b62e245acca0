/** The conformance suite of the Container Storage Interface, for the calls that the driver implements. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { silentLogger } from '@reeve/runtime'
import { expect, it } from 'vitest'
import { serveUnix } from '../../src/csi/grpc/unix-server.ts'
import { bytesField, message, textField } from '../../src/csi/wire/protobuf.ts'
import { csiNode, missingRights } from './support/csi-node.ts'

const program = process.env.REEVE_CSI_SANITY
const missing = missingRights() ?? (program ? undefined : 'needs csi-sanity, which npm run test:real builds')

/**
 * Volumes of this driver are part of a pod. The suite wants a controller to create them, which only names them here and
 * gives them the attributes of a pod.
 */
const CONTROLLER = {
  CreateVolume: async () => {
    const attributes = {
      mode: 'app',
      dynakube: 'dk',
      'csi.storage.k8s.io/pod.name': 'web',
      'csi.storage.k8s.io/pod.namespace': 'shop',
    }
    const context = Object.entries(attributes).map(([key, value]) =>
      bytesField(3, message(textField(1, key), textField(2, value))),
    )
    return message(bytesField(1, message(textField(2, randomUUID()), ...context)))
  },
  DeleteVolume: async () => new Uint8Array(),
}

it.skipIf(missing)(`csi-sanity finds nothing to object to${missing ? ` (skipped: ${missing})` : ''}`, async () => {
  await using node = await csiNode()
  const driver = await node.start()
  await node.installModule('1.2.3.4-5', 'dk')
  const controller = join(node.folder, 'controller.sock')
  const stop = new AbortController()
  const services = { 'csi.v1.Controller': CONTROLLER }
  const serving = serveUnix(controller, services, { signal: stop.signal, logger: silentLogger })
  const passed = async (service: string, ...flags: readonly string[]) => {
    const { stdout } = await promisify(execFile)(program ?? '', [
      `--csi.endpoint=unix:${join(node.folder, 'csi.sock')}`,
      `--csi.mountdir=${join(node.folder, 'sanity-mount')}`,
      `--csi.stagingdir=${join(node.folder, 'sanity-staging')}`,
      '--ginkgo.no-color',
      `--ginkgo.focus=${service}`,
      ...flags,
    ])
    return Number(/(\d+) Passed \| 0 Failed/.exec(stdout)?.[1])
  }
  try {
    expect(await passed('Identity Service')).toBe(3)
    // The rest is about calls that the driver says it does not implement.
    expect(await passed('Node Service', `--csi.controllerendpoint=unix:${controller}`)).toBe(8)
  } finally {
    stop.abort()
    await serving
  }
  expect(await node.mounts()).toEqual([])
  expect(await driver.stop()).toBe(0)
})
