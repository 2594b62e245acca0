import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findClientBinary } from '@reeve/client-binaries'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const helm = await findClientBinary('helm')
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const main = (...args: string[]) => promisify(execFile)(process.execPath, [MAIN, ...args])

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-manifests-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.skipIf(helm === undefined)('npm run manifests (skipped without helm)', () => {
  it('writes manifests with the namespace, image and values of the user', async () => {
    const values = join(folder, 'values.yaml')
    await writeFile(values, 'image: { pullPolicy: Always }\n')
    const options = ['--namespace=shop', '--image-repository=example.com/w', '--image-tag=2', `--values=${values}`]
    const { stdout } = await main('webapp', `--output=${folder}`, ...options)
    expect(stdout).toContain(join(folder, 'webapp/kustomize/kubernetes/kustomization.yaml'))
    const text = await readFile(join(folder, 'webapp/kubernetes.yaml'), 'utf8')
    expect(text).toContain('image: example.com/w:2\n')
    expect(text).toContain('imagePullPolicy: Always\n')
    expect(text).toContain('namespace: shop\n')
    expect((await readdir(folder)).toSorted()).toEqual(['values.yaml', 'webapp'])
  })

  it('explains what is wrong', async () => {
    await expect(main('website')).rejects.toMatchObject({ code: 64, stderr: expect.stringContaining('webapp') })
    await expect(main('webapp', '--values=missing.yaml')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('missing.yaml'),
    })
    await writeFile(join(folder, 'wrong.yaml'), 'replcias: 1\n')
    await expect(main('webapp', `--values=${join(folder, 'wrong.yaml')}`)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("additional properties 'replcias' not allowed"),
    })
  })
})
