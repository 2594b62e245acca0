import { mkdir, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { scratchFolder } from '@reeve/archives/testing'
import { describe, expect, it } from 'vitest'
import { linkInstalledVersion, linkNewestVersion } from './current-link.ts'

const VERSION = '1.239.14.20220325-164521'

describe('agent/bin/current', () => {
  it('leads to the folder whose name is a version; files and other folders do not count', async () => {
    await using scratch = await scratchFolder()
    const bin = join(scratch.target, 'agent/bin')
    for (const name of ['any', '1.2.3', `${VERSION}x`, VERSION]) await mkdir(join(bin, name), { recursive: true })
    await writeFile(join(bin, '0.0.0.0-0'), '')
    await linkNewestVersion(scratch.target)
    expect(await readlink(join(bin, 'current'))).toBe(VERSION)
  })

  it('points to the content of installer.version, unchanged', async () => {
    await using scratch = await scratchFolder()
    await mkdir(join(scratch.target, 'agent/bin'), { recursive: true })
    await writeFile(join(scratch.target, 'agent/installer.version'), `${VERSION} `)
    await linkInstalledVersion(scratch.target)
    expect(await readlink(join(scratch.target, 'agent/bin/current'))).toBe(`${VERSION} `)
  })

  it('is not changed', async () => {
    await using scratch = await scratchFolder()
    const link = join(scratch.target, 'agent/bin/current')
    await mkdir(join(scratch.target, 'agent/bin'), { recursive: true })
    await symlink('mine', link)
    await linkInstalledVersion(scratch.target)
    await linkNewestVersion(scratch.target)
    expect(await readlink(link)).toBe('mine')
  })

  it('is an error without an agent', async () => {
    await using scratch = await scratchFolder()
    await expect(linkInstalledVersion(scratch.target)).rejects.toMatchObject({ code: 'BOOTSTRAP_INPUT' })
    await expect(linkNewestVersion(scratch.target)).rejects.toMatchObject({ code: 'BOOTSTRAP_INPUT' })
    await mkdir(join(scratch.target, 'agent/bin'), { recursive: true })
    await expect(linkNewestVersion(scratch.target)).rejects.toThrow('has no folder of a version')
  })
})
