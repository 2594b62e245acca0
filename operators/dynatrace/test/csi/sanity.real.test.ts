/** The conformance suite of the Container Storage Interface, for the calls that the driver implements. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { csiNode, missingRights } from './support/csi-node.ts'

const program = process.env.REEVE_CSI_SANITY
const missing = missingRights() ?? (program ? undefined : 'needs csi-sanity, which npm run test:real builds')

/** Volumes of this driver are part of a pod: there is no controller to create them, which these tests want to do. */
const SKIPPED = ['Controller Server', 'should remove target path', 'single node multi writer']

it.skipIf(missing)(`csi-sanity finds nothing to object to${missing ? ` (${missing})` : ''}`, async () => {
  await using node = await csiNode()
  const driver = await node.start()
  await node.installModule('1.2.3.4-5', 'dk')
  const folder = join(node.data, '..')
  const { stdout } = await promisify(execFile)(program ?? '', [
    `--csi.endpoint=unix:${join(folder, 'csi.sock')}`,
    `--csi.mountdir=${join(folder, 'sanity-mount')}`,
    `--csi.stagingdir=${join(folder, 'sanity-staging')}`,
    '--ginkgo.no-color',
    '--ginkgo.focus=Identity Service|Node Service',
    `--ginkgo.skip=${SKIPPED.join('|')}`,
  ])
  const [, passed] = /(\d+) Passed \| 0 Failed/.exec(stdout) ?? []
  expect(Number(passed)).toBeGreaterThanOrEqual(10)
  expect(await driver.stop()).toBe(0)
})
