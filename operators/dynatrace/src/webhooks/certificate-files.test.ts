import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sleep } from '@reeve/http'
import { createClient, type KubeClient } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import { issueAuthority, type ServingCertificate } from '@reeve/runtime/certificates'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CertificateFilesFromSecret } from './certificate-files.ts'

const HOUR_MS = 3_600_000

let folder: string
let directory: string
let secret: Record<string, string> | undefined
let client: KubeClient
let lines: string[]
let stop: AbortController
let running: Promise<void>

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-certificate-'))
  directory = join(folder, 'not', 'there', 'yet')
  secret = undefined
  lines = []
  stop = new AbortController()
  client = createClient({
    transport: {
      send: async () => {
        const body = secret ? { metadata: { name: 's' }, data: secret } : { kind: 'Status', reason: 'NotFound' }
        const bytes = new TextEncoder().encode(JSON.stringify(body))
        const stream = (async function* () {
          yield bytes
        })()
        return { status: secret ? 200 : 404, headers: { 'content-type': 'application/json' }, body: stream }
      },
      close: async () => undefined,
    },
  })
})
afterEach(async () => {
  stop.abort()
  await running
  await rm(folder, { recursive: true, force: true })
})

function start(): void {
  const log = (fields: object, message: string) => {
    lines.push(`${message} ${JSON.stringify(fields)}`)
  }
  const logger: Logger = { debug: log, info: log, warn: log, error: log, child: () => logger }
  const files = { directory, certificate: 'tls.crt', privateKey: 'tls.key' }
  const options = { recheckMs: 5, settleMs: 5, logger }
  running = new CertificateFilesFromSecret(client, 'dynatrace', files, options).run(stop.signal)
}

function store({ certificate, privateKey }: ServingCertificate): void {
  secret = { 'tls.crt': btoa(certificate), 'tls.key': btoa(privateKey), 'ca.key': btoa('not to be copied') }
}

const issue = (validityMs = 24 * HOUR_MS) => issueAuthority('test', { nowMs: Date.now(), validityMs })
const read = (name: string) => readFile(join(directory, name), 'utf8').catch(() => undefined)

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(20_000)
  while (!(await condition())) await sleep(5, { signal: deadline })
}

it('the copy of the certificate waits for the Secret, then the files equal it, and nothing else of it is written', async () => {
  start()
  await until(() => lines.some((line) => line.startsWith('waiting for a certificate')))
  expect(await read('tls.crt')).toBeUndefined()
  const pair = await issue()
  store(pair)
  await until(async () => (await read('tls.crt')) === pair.certificate)
  expect(await read('tls.key')).toBe(pair.privateKey)
  expect((await readdir(directory)).sort()).toEqual(['tls.crt', 'tls.key'])
  expect((await stat(join(directory, 'tls.key'))).mode & 0o077).toBe(0)
})

it('the copy of the certificate follows changes, and does not touch the files when nothing changes or the Secret is broken', async () => {
  const [one, two] = await Promise.all([issue(), issue()])
  store(one)
  start()
  await until(async () => (await read('tls.crt')) === one.certificate)
  secret = { 'tls.crt': '', 'tls.key': '' }
  await until(() => lines.some((line) => line.startsWith('waiting for a certificate')))
  expect(await read('tls.crt')).toBe(one.certificate)
  store(two)
  await until(async () => (await read('tls.crt')) === two.certificate)
  await until(async () => (await read('tls.key')) === two.privateKey)
  expect(lines.filter((line) => line.startsWith('wrote'))).toHaveLength(2)
})

it('the copy of the certificate warns when the certificate expires within six hours, and still uses it', async () => {
  const pair = await issue(5 * HOUR_MS)
  store(pair)
  start()
  await until(() => lines.some((line) => line.startsWith('the certificate is outdated')))
  expect(await read('tls.crt')).toBe(pair.certificate)
})

it('the copy of the certificate never logs a key', async () => {
  const pair = await issue()
  store(pair)
  start()
  await until(async () => (await read('tls.crt')) === pair.certificate)
  secret = { 'tls.crt': btoa('garbage'), 'tls.key': btoa(pair.privateKey) }
  await until(() => lines.some((line) => line.startsWith('the certificate is outdated')))
  expect(lines.join('\n')).not.toMatch(/PRIVATE KEY|garbage/)
})
