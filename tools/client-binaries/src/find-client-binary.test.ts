import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findClientBinary, helmsToTry } from './index.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-clients-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('the search for a binary prefers the path in the environment variable', async () => {
  const own = join(folder, 'my-helm')
  await writeFile(own, '#!/bin/sh\n')
  await chmod(own, 0o755)
  expect(await findClientBinary('helm', { env: { HELM_BIN: own } })).toBe(own)
})

it('the search for a binary fails when the environment variable names a file that cannot be executed', async () => {
  await expect(findClientBinary('kubectl', { env: { KUBECTL_BIN: '/nowhere' } })).rejects.toThrow(
    'KUBECTL_BIN=/nowhere is not an executable file',
  )
})

it('the search for a binary searches PATH where no package contains the binary', async () => {
  const onPath = join(folder, 'kubectl')
  await writeFile(onPath, '#!/bin/sh\n')
  await chmod(onPath, 0o755)
  const options = { env: { PATH: `/nowhere:${folder}` }, platform: 'other' }
  expect(await findClientBinary('kubectl', options)).toBe(onPath)
  expect(await findClientBinary('helm', { ...options, env: { PATH: '/nowhere' } })).toBeUndefined()
})

it.skipIf(process.platform !== 'linux' || process.arch !== 'x64').each([
  ['helm', /^v4\./],
  ['helm3', /^v3\./],
] as const)(
  'the search for a binary unpacks a working %s once when called several times concurrently (skipped except on Linux with x64)',
  async (binary, version) => {
    const options = { env: {}, cacheDir: join(folder, binary) }
    const [helm, again] = await Promise.all([findClientBinary(binary, options), findClientBinary(binary, options)])
    expect(helm).toBe(again)
    const { stdout } = await promisify(execFile)(helm ?? '', ['version', '--short'])
    expect(stdout).toMatch(version)
    expect(await readdir(join(folder, binary), { recursive: true })).toHaveLength(2)
  },
)

it('tests the previous major version of helm on a real cluster only', async () => {
  const own = join(folder, 'some-helm')
  await writeFile(own, '#!/bin/sh\n')
  await chmod(own, 0o755)
  const env = { HELM_BIN: own, HELM3_BIN: own }
  expect(await helmsToTry({ env })).toEqual([{ name: 'helm', path: own }])
  expect(await helmsToTry({ env: { ...env, REEVE_TEST_CLUSTER: 'real' } })).toEqual([
    { name: 'helm', path: own },
    { name: 'helm 3', path: own },
  ])
})
