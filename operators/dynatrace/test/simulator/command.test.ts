import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { runCli } from '../../src/cli/testing/run-cli.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/dynatrace-operator.js', import.meta.url))
let folder: string
const children: ChildProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulate-tenant-'))
})

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(folder, { recursive: true })
})

interface Started {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  readonly ended: Promise<number | null>
}

/** Starts the command and waits until one of its streams says that it is ready. */
async function start(...args: readonly string[]): Promise<Started> {
  const child = spawn(process.execPath, [PROGRAM, 'simulate-tenant', '--port', '0', ...args])
  children.push(child)
  const text = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    text.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    text.stderr += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  await expect.poll(() => `${text.stdout}${text.stderr}`, { timeout: 50_000 }).toMatch(/tenant is ready|"page":/)
  return { child, stdout: () => text.stdout, stderr: () => text.stderr, ended }
}

function get(url: string, ca: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { ca, headers, agent: false }, (incoming) => {
      incoming.resume()
      resolve(incoming.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })
}

test('the command tenant-simulator serves until it is stopped, and prints its address as JSON', async () => {
  const caFile = join(folder, 'ca.pem')
  const { child, stdout, ended } = await start(
    '--output',
    'json',
    '--ca-file',
    caFile,
    '--tenant',
    't1',
    '--tenant',
    't2',
  )
  const facts = JSON.parse(stdout()) as { page: string; tenants: { id: string; apiUrl: string }[]; caFile: string }
  expect(facts.tenants.map(({ id }) => id)).toEqual(['t1', 't2'])
  expect(facts.caFile).toBe(caFile)
  expect(facts).not.toHaveProperty('manifests')
  const ca = await readFile(caFile, 'utf8')
  expect(await get(facts.page, ca)).toBe(200)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
}, 120_000)

test('the command tenant-simulator prints manifests that the webhook would accept and that work', async () => {
  const { stdout, stderr, child, ended } = await start('--print-manifest', '--namespace', 'observe')
  const [secret, trust, dynakube] = parseAllDocuments(stdout()).map((document) => document.toJS())
  expect([secret.kind, trust.kind, dynakube.kind]).toEqual(['Secret', 'ConfigMap', 'DynaKube'])
  expect(dynakube).toMatchObject({ metadata: { namespace: 'observe', name: secret.metadata.name } })
  expect(dynakube.spec.trustedCAs).toBe(trust.metadata.name)
  expect(stderr()).not.toContain(secret.stringData.apiToken)
  expect(await runCli(['validate', '-f', '-', '-o', 'json'], { stdin: stdout() })).toMatchObject({ code: 0 })
  const url = `${dynakube.spec.apiUrl}/v1/deployment/installer/agent/connectioninfo`
  const authorization = `Api-Token ${secret.stringData.apiToken}`
  expect(await get(url, trust.data.certs, { authorization })).toBe(200)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
}, 120_000)

test('the command tenant-simulator takes tokens from a file', async () => {
  const tokenFile = join(folder, 'tokens.yaml')
  await writeFile(tokenFile, 'mine:\n  apiToken: { value: dt0c01.MINE.SECRET, scopes: [InstallerDownload] }\n')
  const { stdout, stderr } = await start('--token-file', tokenFile, '--print-manifest', '--output', 'json')
  const { manifests } = JSON.parse(stdout()) as { manifests: { stringData?: object }[] }
  expect(manifests[0]?.stringData).toEqual({ apiToken: 'dt0c01.MINE.SECRET' })
  expect(stderr()).not.toContain('SECRET')
}, 120_000)

test.each([
  ['a port', ['--port', 'many'], 64],
  ['a size', ['--agent-size', '3Gi'], 64],
  ['a way of authentication', ['--registry-auth', 'magic'], 64],
  ['a token file that is missing', ['--token-file', '/nowhere/tokens.yaml'], 1],
  ['a tenant', ['--port', '0', '--tenant', 'a/b'], 1],
])('%s that is invalid makes it exit immediately', async (_name, args, code) => {
  expect(await runCli(['simulate-tenant', ...args])).toMatchObject({ code, stdout: '' })
})

test('the command tenant-simulator shows examples in its help', async () => {
  const { code, stdout } = await runCli(['help', 'simulate-tenant'])
  expect([code, stdout]).toEqual([0, expect.stringContaining('/control/faults')])
})
