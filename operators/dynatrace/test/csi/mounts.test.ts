/** Mounts, against the kernel. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { missingRights } from './support/csi-node.ts'

const MODULES = fileURLToPath(new URL('../../src/csi/mounts', import.meta.url))

/** Runs inside its own mount namespace: what it leaves disappears with it. */
const SCRIPT = `
const { openSync, symlinkSync } = await import('node:fs')
const { kernelMounts } = await import('${MODULES}/kernel-mounts.ts')
const { isMountPoint, readMounts } = await import('${MODULES}/mount-table.ts')
const [, folder] = process.argv
const mounts = await kernelMounts()
const at = (name) => folder + '/' + name
const found = {}
await mounts.overlay({ lower: at('lower'), upper: at('upper'), work: at('work'), target: at('merged') })
const overlay = (await readMounts()).find(({ mountPoint }) => mountPoint === at('merged'))
found.overlay = [overlay.type, overlay.options.lowerdir, overlay.options.upperdir, overlay.options.workdir]
await mounts.bind(at('merged'), at('target'))
found.bound = await isMountPoint(at('target'))
found.unmounted = [await mounts.unmount(at('target')), await mounts.unmount(at('target')), await mounts.unmount(at('none'))]
found.left = await isMountPoint(at('target'))
symlinkSync(at('merged'), at('link'))
symlinkSync('circle', at('circle'))
found.notThere = await Promise.all(['link', 'lower/file/x', 'circle/x'].map((name) => mounts.unmount(at(name))))
openSync(at('merged/held'), 'w')
found.busy = await mounts.unmount(at('merged')).catch((error) => error.code)
found.lazily = [await mounts.unmount(at('merged'), 'lazily'), await mounts.unmount(at('merged'), 'lazily')]
found.error = await mounts.bind(at('none'), at('target')).catch((error) => [error.name, error.code, error.message])
console.log(JSON.stringify(found))`

describe.skipIf(missingRights())('mounting (skipped without root)', () => {
  it('makes overlays and binds, and removes them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mounting-'))
    try {
      for (const name of ['lower', 'upper', 'work', 'merged', 'target']) await mkdir(join(folder, name))
      await writeFile(join(folder, 'lower/file'), '')
      const command = [process.execPath, '--input-type=module', '--eval', SCRIPT, folder]
      const child = spawn('unshare', ['--mount', '--propagation', 'private', ...command])
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
      expect(errors).toBe('')
      expect(JSON.parse(output)).toEqual({
        overlay: ['overlay', join(folder, 'lower'), join(folder, 'upper'), join(folder, 'work')],
        bound: true,
        unmounted: [true, false, false],
        left: false,
        notThere: [false, false, false],
        busy: 'CSI_MOUNT',
        lazily: [true, false],
        error: ['MountError', 'CSI_MOUNT', expect.stringContaining(join(folder, 'none'))],
      })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
