/** Certificates that are replaced while the process runs. */

import { SimulatedClock } from '@reeve/http/testing'
import { createAuthority } from '@reeve/test-servers'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { bearer, PlainCredentials } from './credentials.ts'
import { ReloadingFile } from './reloading-file.ts'

describe('client certificate files', () => {
  it('are used as a pair: a new certificate waits for its new key', async () => {
    await using directory = await temporaryDirectory()
    const authority = await createAuthority('clients')
    const [old, next] = await Promise.all([authority.client('jane'), authority.client('jane')])
    const clock = new SimulatedClock()
    const options = { clock, maxAgeMs: 60_000, what: 'certificate' }
    const certificate = new ReloadingFile(await directory.write('tls.crt', old.certificate), options)
    const key = new ReloadingFile(await directory.write('tls.key', old.key), options)
    const credentials = new PlainCredentials({ certificate, key })
    const inUse = async () => (await credentials.get()).clientCertificate
    const first = await inUse()
    expect(first).toEqual({ certificate: old.certificate.trim(), key: old.key.trim() })

    await directory.write('tls.crt', next.certificate)
    await clock.advance(60_000)
    expect(await inUse()).toBe(first)

    await directory.write('tls.key', next.key)
    await clock.advance(60_000)
    expect(await inUse()).toEqual({ certificate: next.certificate.trim(), key: next.key.trim() })
  })
})

describe('bearer', () => {
  it.each(['', 'a b', 'a\nb', 'ä'])('rejects %j without quoting it', (token) => {
    expect(() => bearer(token)).toThrow(/^the bearer token is empty or contains characters/)
  })
})
