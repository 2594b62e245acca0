import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { listing, type ScratchFolder, scratchFolder } from '@reeve/archives/testing'
import { describe, expect, it } from 'vitest'
import { copyAgent } from './copy-agent.ts'
import { createLog } from './log.ts'

const FILES = {
  'agent/java/a.so': 0o755,
  'agent/java/common.jar': 0o644,
  'agent/php/b.so': 0o750,
  'agent/go/c.so': 0o755,
}

const MANIFEST = {
  version: '1.2.3.4-5',
  technologies: {
    java: { x86: [{ path: 'agent/java/a.so' }], arm: [{ path: 'agent/java/common.jar' }] },
    php: { x86: [{ path: 'agent/php/b.so' }] },
    evil: { x86: [{ path: '../outside' }] },
  },
}

async function source(scratch: ScratchFolder): Promise<string> {
  const folder = join(scratch.path, 'source')
  for (const [path, mode] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), path)
    await chmod(join(folder, path), mode)
  }
  await chmod(join(folder, 'agent/php'), 0o711)
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(MANIFEST))
  return folder
}

async function copy(scratch: ScratchFolder, from: string, technology = '') {
  const lines: string[] = []
  const log = createLog('info', (line) => lines.push(line))
  await copyAgent({ source: from, target: scratch.target, work: '', technology }, log)
  return { found: await listing(scratch.target), lines }
}

describe('a copy of an agent', () => {
  it.each(['', 'all', ' all '])('has every file in its mode for the technologies "%s"', async (technology) => {
    await using scratch = await scratchFolder()
    const from = await source(scratch)
    expect((await copy(scratch, from, technology)).found).toEqual(await listing(from))
  })

  it('has the files of the chosen technologies on all processors, and the modes of their folders', async () => {
    await using scratch = await scratchFolder()
    const { found, lines } = await copy(scratch, await source(scratch), 'java, php ,cobol')
    expect(found).toEqual({
      agent: '755 /',
      'agent/java': '755 /',
      'agent/java/a.so': '755 agent/java/a.so',
      'agent/java/common.jar': '644 agent/java/common.jar',
      'agent/php': '711 /',
      'agent/php/b.so': '750 agent/php/b.so',
    })
    expect(lines.join()).toContain('cobol')
  })

  it('has nothing for technologies that the agent does not have', async () => {
    await using scratch = await scratchFolder()
    expect((await copy(scratch, await source(scratch), 'cobol')).found).toEqual({})
  })

  it('has a file for a link to a file', async () => {
    await using scratch = await scratchFolder()
    const from = await source(scratch)
    await symlink('a.so', join(from, 'agent/java/link.so'))
    expect((await copy(scratch, from)).found['agent/java/link.so']).toBe('755 agent/java/a.so')
  })

  it.each([
    ['a link to a folder', '', (from: string) => symlink('java', join(from, 'agent/link')), /links to a folder/],
    [
      'a broken manifest',
      'java',
      (from: string) => writeFile(join(from, 'manifest.json'), '{'),
      /manifest.json is malformed/,
    ],
    ['a manifest that leads out', 'evil', async () => undefined, /\.\.\/outside leads out/],
  ])('fails on %s', async (_, technology, prepare, message) => {
    await using scratch = await scratchFolder()
    const from = await source(scratch)
    await prepare(from)
    await expect(copy(scratch, from, technology)).rejects.toThrow(message)
  })

  it('fails without a source or its manifest', async () => {
    await using scratch = await scratchFolder()
    const none = join(scratch.path, 'none')
    await expect(copy(scratch, none)).rejects.toThrow(/none does not exist/)
    await writeFile(none, '')
    await expect(copy(scratch, none)).rejects.toThrow(/none is not a directory/)
    await expect(copy(scratch, scratch.target, 'java')).rejects.toMatchObject({ code: 'BOOTSTRAP_INPUT' })
  })

  it('appears atomically by way of a work folder, which is removed afterwards', async () => {
    await using scratch = await scratchFolder()
    const from = await source(scratch)
    const [target, work] = [join(scratch.target, 'x'), join(scratch.target, 'work')]
    const options = { source: from, target, work, technology: '' }
    await mkdir(work)
    await writeFile(join(work, 'left over'), '')
    await copyAgent(options, createLog('error'))
    expect(Object.keys(await listing(scratch.target)).filter((path) => path.startsWith('work'))).toEqual([])
    expect(await listing(target)).toEqual(await listing(from))
  })
})
