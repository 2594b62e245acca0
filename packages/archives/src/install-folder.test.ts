import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { installFolder } from './install-folder.ts'
import { listing, scratchFolder } from './testing/scratch-folder.ts'

it('installing a folder makes the target appear with its whole content', async () => {
  await using scratch = await scratchFolder()
  const options = { target: join(scratch.path, 'deep', 'agent'), work: join(scratch.path, 'work') }
  expect(await installFolder(options, (folder) => writeFile(join(folder, 'file'), 'x'))).toBe(true)
  expect(await listing(options.target)).toEqual({ file: '644 x' })
  expect(await readdir(scratch.path)).not.toContain('work')
})

it('installing a folder does nothing if the target exists', async () => {
  await using scratch = await scratchFolder()
  const options = { target: scratch.target, work: join(scratch.path, 'work') }
  const unexpected = () => Promise.reject(new Error('must not be called'))
  expect(await installFolder(options, unexpected)).toBe(false)
})

it('installing a folder leaves no target after a failure, and starts clean after a crash', async () => {
  await using scratch = await scratchFolder()
  const options = { target: join(scratch.path, 'agent'), work: join(scratch.path, 'work') }
  const failing = async (folder: string) => {
    await writeFile(join(folder, 'half'), 'x')
    throw new Error('no space')
  }
  await expect(installFolder(options, failing)).rejects.toThrow('no space')
  expect(await readdir(scratch.path)).toEqual(['target'])
  await mkdir(options.work)
  await writeFile(join(options.work, 'left-over'), 'x')
  await installFolder(options, (folder) => writeFile(join(folder, 'whole'), 'x'))
  expect(await readdir(options.target)).toEqual(['whole'])
})

it('only the preferred subfolder is installed when the content has it', async () => {
  await using scratch = await scratchFolder()
  const options = {
    target: join(scratch.path, 'agent'),
    work: join(scratch.path, 'work'),
    preferredSubfolder: 'opt/agent',
  }
  await installFolder(options, async (folder) => {
    await mkdir(join(folder, 'opt/agent'), { recursive: true })
    await writeFile(join(folder, 'opt/agent/file'), 'x')
  })
  expect(await readdir(options.target)).toEqual(['file'])
})
