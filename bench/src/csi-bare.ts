/**
 * A process on a Unix socket that publishes volumes by bare system calls: the same directories, files and mounts as the
 * driver makes, in the fastest way that Node.js has, with no checks, locks, logs or protocol around them.
 *
 * `csi-bare.ts <socket> <data directory> <folder of pods>`; each line is `publish <id>` or `unpublish <id>`.
 */
import { mkdirSync, rmdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { kernelMounts } from '@reeve/dynatrace/csi'

const [, , socket = '', data = '', pods = ''] = process.argv
const module = join(data, 'codemodules/1')
const mounts = await kernelMounts()
process.umask(0)

const pathsOf = (id: string) => {
  const root = join(data, 'appmounts', id)
  const [mapped, upper, work] = [join(root, 'mapped'), join(root, 'var'), join(root, 'work')]
  const link = join(data, '_dynakubes/dk/appmounts/bare', id)
  return { root, mapped, upper, work, podInfo: join(upper, 'pod-info'), link, target: join(pods, id) }
}

async function publish(id: string): Promise<void> {
  const { root, mapped, upper, work, podInfo, link, target } = pathsOf(id)
  for (const path of [root, mapped, upper, work, target]) mkdirSync(path)
  writeFileSync(podInfo, link)
  await mounts.overlay({ lower: module, upper, work, target: mapped })
  await mounts.bind(mapped, target)
  symlinkSync(root, link)
}

async function unpublish(id: string): Promise<void> {
  const { root, mapped, upper, work, podInfo, link, target } = pathsOf(id)
  await mounts.unmount(target)
  await mounts.unmount(mapped)
  for (const path of [link, podInfo]) unlinkSync(path)
  for (const path of [mapped, upper, join(work, 'work'), work, root]) rmdirSync(path)
}

const server = createServer((connection) => {
  connection.setEncoding('utf8').on('data', async (line: string) => {
    const [call, id = ''] = line.trim().split(' ')
    await (call === 'publish' ? publish(id) : unpublish(id))
    connection.write('\n')
  })
})
server.listen(socket)
process.once('SIGTERM', () => process.exit())
