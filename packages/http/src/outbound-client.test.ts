import { describe, expect, it } from 'vitest'
import { openOutbound, proxyPasswords } from './outbound-client.ts'
import { SecretFilter } from './secret-filter.ts'

describe('openOutbound', () => {
  it('rejects an invalid proxy address, even if the process environment has a valid one', () => {
    const env = { HTTPS_PROXY: 'http://proxy:3128' }
    expect(() => openOutbound({ proxy: { url: '10.0.0.1:3128' }, env })).toThrow(
      expect.objectContaining({ code: 'HTTP_CONFIG' }),
    )
  })

  it('sends nothing when the proxy of the process cannot be used', async () => {
    const sender = openOutbound({ env: { HTTPS_PROXY: 'http://user:hunter2@' } })
    const url = new URL('https://tenant.example/api')
    await expect(sender.send({ method: 'GET', url, headers: {} })).rejects.toMatchObject({
      code: 'HTTP_CONFIG',
      message: 'tenant.example: HTTPS_PROXY is not a valid proxy URL; write it as http://user:password@host:port',
    })
    await sender.close()
  })
})

describe('the password of a proxy', () => {
  it.each([
    ['http://me:hunter2@proxy', 'hunter2'],
    ['me:hunter2@proxy:3128', 'hunter2'],
    ['http://me:hunt:er@2@proxy', 'hunt:er@2'],
    ['http://me:hunter%252@proxy', 'hunter%2'],
    ['http://me:hunter%ff@proxy', 'hunter%ff'],
  ])('is removed from messages of others: %s', (url, password) => {
    const filter = new SecretFilter(...proxyPasswords({ proxy: { url }, env: {} }))
    const header = Buffer.from(`me:${password}`).toString('base64')
    expect(filter.clean(`no ${password}, no Basic ${header}`)).toBe('no [redacted], no Basic [redacted]')
  })

  it('is found in the variables of the process, and nowhere else', () => {
    expect(proxyPasswords({ env: { https_proxy: 'http://me:hunter2@proxy', HTTP_PROXY: 'http://proxy' } })).toEqual([
      'hunter2',
      'hunter2',
      'me:hunter2',
    ])
  })
})
