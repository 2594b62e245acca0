import { describe, expect, it } from 'vitest'
import { followRedirects } from './follow-redirects.ts'
import type { OutboundRequest } from './outbound.ts'
import { ScriptedSender } from './testing/scripted-sender.ts'

const get = (url: string): OutboundRequest => ({
  method: 'GET',
  url: new URL(url),
  headers: { authorization: 'Api-Token t0ken', accept: 'x' },
})
const post = (url: string): OutboundRequest => ({
  ...get(url),
  method: 'POST',
  body: '{"token":"t0ken"}',
  headers: { ...get(url).headers, 'content-type': 'application/json' },
})
const to = (location: string, status = 302) => ({ status, headers: { location } })
const ok = { status: 200 }

describe('followRedirects', () => {
  it.each([
    ['https://a.example/x', 'https://a.example/y', true],
    ['https://a.example/x', '/y', true],
    ['https://a.example/x', 'https://sub.a.example/y', true],
    ['https://a.example/x', 'https://b.example/y', false],
    ['https://a.example/x', 'https://nota.example/y', false],
    ['https://a.example/x', 'https://a.example:8443/y', false],
    ['https://a.example/x', 'http://a.example/y', false],
  ])('from %s to %s takes the token along: %s', async (from, location, keeps) => {
    const sender = new ScriptedSender(to(location), ok)
    const response = await followRedirects(sender, get(from))
    expect(response.status).toBe(200)
    expect(sender.requests[1]?.headers.accept).toBe('x')
    expect(sender.requests[1]?.headers.authorization !== undefined).toBe(keeps)
  })

  it('does not send the token to a subdomain if it is for the host only', async () => {
    const sender = new ScriptedSender(to('https://sub.a.example/y'), to('https://a.example/z'), ok)
    await followRedirects(sender, get('https://a.example/x'), { authorizationFor: 'same-host' })
    expect(sender.requests.map(({ headers }) => headers.authorization !== undefined)).toEqual([true, false, false])
  })

  it('never sends a token again after a redirect back', async () => {
    const sender = new ScriptedSender(to('https://b.example'), to('https://a.example'), ok)
    await followRedirects(sender, get('https://a.example'))
    expect(sender.requests[2]?.headers.authorization).toBeUndefined()
  })

  it.each([301, 302, 303])('turns a POST into a GET without body on %s', async (status) => {
    const sender = new ScriptedSender(to('/y', status), ok)
    await followRedirects(sender, post('https://a.example/x'))
    expect(sender.requests[1]).toMatchObject({ method: 'GET', url: new URL('https://a.example/y') })
    expect(sender.requests[1]?.body).toBeUndefined()
    expect(sender.requests[1]?.headers['content-type']).toBeUndefined()
  })

  it.each([307, 308])('repeats a POST on %s', async (status) => {
    const sender = new ScriptedSender(to('/y', status), ok)
    await followRedirects(sender, post('https://a.example/x'))
    expect(sender.requests[1]).toMatchObject({ method: 'POST', body: '{"token":"t0ken"}' })
  })

  it('does not repeat a body, which may hold the token, to another host', async () => {
    const sender = new ScriptedSender(to('https://b.example/y', 307), ok)
    await expect(followRedirects(sender, post('https://a.example/x'))).rejects.toMatchObject({ code: 'HTTP_REDIRECT' })
    expect(sender.requests).toHaveLength(1)
  })

  it('fails after ten redirects', async () => {
    const sender = new ScriptedSender(to('/again'))
    await expect(followRedirects(sender, get('https://a.example'))).rejects.toMatchObject({ code: 'HTTP_REDIRECT' })
    expect(sender.requests).toHaveLength(11)
  })

  it('refuses to leave the web', async () => {
    const sender = new ScriptedSender(to('file:///etc/passwd'))
    await expect(followRedirects(sender, get('https://a.example'))).rejects.toThrow(/not an http or https URL/)
  })
})
