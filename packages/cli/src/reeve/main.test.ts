import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const REEVE = fileURLToPath(new URL('../../bin/reeve.js', import.meta.url))
const WEBAPP = fileURLToPath(new URL('../../../../operators/webapp/src/operator.ts', import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-command-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function reeve(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [REEVE, ...args], { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
    child.stdin?.end()
  })
}

describe('reeve', { timeout: 240_000 }, () => {
  it('lists its commands when nothing is asked', async () => {
    const { code, stdout, stderr } = await reeve()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const name of ['init', 'explore', 'cluster', 'crd', 'rbac'])
      expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'))
  })

  it('has a version, and rejects unknown commands and options as operators do', async () => {
    expect(await reeve('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
    expect(await reeve('explode')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("unknown command 'explode'"),
    })
    expect(await reeve('cluster', '--prot')).toMatchObject({ code: 64, stderr: expect.stringContaining('--prot') })
    expect(await reeve('explore', '--point', 'x')).toMatchObject({ code: 64 })
  })

  it('says which Node it needs', async () => {
    const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } })'
    const args = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, REEVE]
    await expect(promisify(execFile)(process.execPath, args)).rejects.toMatchObject({
      code: 78,
      stdout: '',
      stderr: 'reeve needs Node 24.0 or newer; this is 20.1.0\n',
    })
  })

  it('explains each command, however it is asked', async () => {
    expect(await reeve('help', 'cluster')).toEqual(await reeve('cluster', '--help'))
    expect(await reeve('cluster', '--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Usage: reeve cluster'),
    })
    expect(await reeve('init', '--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('--group <domain>'),
    })
  })

  it('prints the CRDs and roles of an operator', async () => {
    expect(await reeve('crd', '--module', WEBAPP)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('name: webapps.example.com'),
    })
    expect(await reeve('rbac', '--module', WEBAPP, '--namespace', 'here')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('namespace: here'),
    })
  })

  it('says where the operator is missing', async () => {
    expect(await reeve('crd')).toMatchObject({ code: 1, stderr: expect.stringContaining('set reeve.operator there') })
    await writeFile(join(folder, 'nothing.mjs'), 'export const nothing = 1')
    expect(await reeve('rbac', '--module', 'nothing.mjs')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('exports no operator'),
    })
  })

  it('creates a project once, from names that can be used', async () => {
    const names = ['--group', 'shop.example.com', '--kind', 'Shop']
    expect(await reeve('init')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('--group and --kind missing'),
    })
    expect(await reeve('init', '--group', 'shop', '--kind', 'Shop')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('group "shop": use a domain name'),
    })
    expect(await reeve('init', ...names)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('created shop-operator'),
    })
    expect(await reeve('init', ...names)).toMatchObject({ code: 64, stderr: expect.stringContaining('is not empty') })
  })
})
