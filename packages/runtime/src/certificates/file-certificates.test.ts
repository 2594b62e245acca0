import { createPrivateKey } from 'node:crypto'
import { SimulatedClock } from '@reeve/http/testing'
import { expect, test } from 'vitest'
import { FileCertificates } from './file-certificates.ts'
import { issueAuthority } from './issue-certificate.ts'

const validity = { nowMs: Date.UTC(2030, 0, 1), validityMs: 86_400_000 }
const never = new AbortController().signal

async function setUp() {
  const clock = new SimulatedClock()
  const files = new Map<string, string>()
  const certificates = new FileCertificates({
    certificateFile: 'tls.crt',
    privateKeyFile: 'tls.key',
    clock,
    read: async (path) => {
      const text = files.get(path)
      if (text === undefined) throw new Error(`ENOENT: ${path}`)
      return text
    },
  })
  const pairs = [await issueAuthority('one', validity), await issueAuthority('two', validity)] as const
  const stop = new AbortController()
  const run = certificates.run(stop.signal)
  return { clock, files, certificates, pairs, stop, run }
}

test('files that appear later, and that change, are loaded', async () => {
  const { clock, files, certificates, pairs, stop, run } = await setUp()
  await clock.advance(30_000)
  expect(certificates.current).toBeUndefined()
  for (const pair of pairs) {
    files.set('tls.crt', pair.certificate).set('tls.key', pair.privateKey)
    await clock.advance(10_000)
    await certificates.whenReady(never)
    expect(certificates.current).toEqual(pair)
  }
  stop.abort()
  await clock.runToCompletion(run)
})

test('a certificate and a key that do not match are not used', async () => {
  const { clock, files, certificates, pairs, stop, run } = await setUp()
  const [one, two] = pairs
  files.set('tls.crt', one.certificate).set('tls.key', one.privateKey)
  await clock.advance(10_000)
  files.set('tls.crt', two.certificate)
  await clock.advance(10_000)
  expect(certificates.current).toEqual(one)
  files.delete('tls.key')
  await clock.advance(10_000)
  expect(certificates.current).toEqual(one)
  files.set('tls.key', two.privateKey)
  await clock.advance(10_000)
  expect(certificates.current).toEqual(two)
  stop.abort()
  await clock.runToCompletion(run)
})

test('listeners are called once per new certificate, not on every read', async () => {
  const { clock, files, certificates, pairs, stop, run } = await setUp()
  const [one] = pairs
  const heard: string[] = []
  certificates.subscribe(({ certificate }) => heard.push(certificate))
  files.set('tls.crt', one.certificate).set('tls.key', one.privateKey)
  await clock.advance(120_000)
  expect(heard).toEqual([one.certificate])
  stop.abort()
  await clock.runToCompletion(run)
})

test('a key under a wrong label is returned with the correct one', async () => {
  const { clock, files, certificates, pairs, stop, run } = await setUp()
  const [{ certificate, privateKey }] = pairs
  const sec1 = createPrivateKey(privateKey).export({ type: 'sec1', format: 'pem' }).toString()
  files.set('tls.crt', certificate).set('tls.key', sec1.replaceAll('EC PRIVATE KEY', 'PRIVATE KEY'))
  await clock.advance(10_000)
  expect(certificates.current).toEqual({ certificate, privateKey })
  stop.abort()
  await clock.runToCompletion(run)
})
