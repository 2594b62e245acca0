import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HelmMissingError, HelmUnsupportedError } from '../errors.ts'
import { exited, ScriptedProcess } from '../testing/scripted-process.ts'
import { findHelm } from './find-helm.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-find-helm-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function executable(...path: readonly string[]): Promise<string> {
  const file = join(folder, ...path)
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, '')
  await chmod(file, 0o755)
  return file
}

const printing = (stdout: string) => new ScriptedProcess(() => exited({ stdout })).run

describe('findHelm', () => {
  it('prefers HELM_BIN to PATH and PATH to the fallback', async () => {
    const [chosen, onPath, fallback] = [
      await executable('chosen'),
      await executable('bin', 'helm'),
      await executable('x'),
    ]
    const runProcess = printing('v4.1.4')
    const env = { HELM_BIN: chosen, PATH: `/nowhere:${join(folder, 'bin')}` }
    const options = { runProcess, fallbackPath: fallback }
    expect(await findHelm({ ...options, env })).toEqual({ path: chosen, version: '4.1.4', major: 4 })
    expect((await findHelm({ ...options, env: { PATH: env.PATH } })).path).toBe(onPath)
    expect((await findHelm({ ...options, env: { PATH: '' } })).path).toBe(fallback)
  })

  it('says what to do when helm is missing', async () => {
    await expect(findHelm({ env: {} })).rejects.toThrow(HelmMissingError)
    await expect(findHelm({ env: { HELM_BIN: '/nope' } })).rejects.toThrow('HELM_BIN=/nope cannot be run')
  })

  it.each(['v3.13.0', '3.19.4', 'v3.19', 'v3.20.0-rc.1', 'v4.0.0'])('accepts %s', async (version) => {
    const path = await executable('helm')
    const found = await findHelm({ env: { HELM_BIN: path }, runProcess: printing(`${version}\n`) })
    expect(found.version).toBe(version.replace('v', ''))
  })

  it.each(['v2.17.0', 'v3.12.3', 'v5.0.0', '', 'not helm', 'v4.1.4; rm -rf'])('rejects %j', async (version) => {
    const env = { HELM_BIN: await executable('helm') }
    await expect(findHelm({ env, runProcess: printing(version) })).rejects.toThrow(HelmUnsupportedError)
  })

  it('treats a binary that does not print its version as missing', async () => {
    const env = { HELM_BIN: await executable('helm') }
    const failing = new ScriptedProcess(() => exited({ exitCode: 2 }))
    await expect(findHelm({ env, runProcess: failing.run })).rejects.toThrow(HelmMissingError)
    const unstartable = () => Promise.reject(new Error('EACCES'))
    await expect(findHelm({ env, runProcess: unstartable })).rejects.toThrow(HelmMissingError)
  })
})
