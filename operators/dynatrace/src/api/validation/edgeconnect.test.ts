import { describe, expect, it } from 'vitest'
import type { EdgeConnectSpec } from '../latest.ts'
import { edgeConnect } from '../testing/build.ts'
import { lookups } from '../testing/lookups.ts'
import { validateEdgeConnect } from './validate.ts'

const errors = async (spec: Partial<EdgeConnectSpec>) =>
  (await validateEdgeConnect(edgeConnect(spec), lookups())).errors
const provisioner = { ...edgeConnect().spec.oauth, provisioner: true }
const SUFFIXES = ['.dev.apps.dynatracelabs.com', '.sprint.apps.dynatracelabs.com', '.apps.dynatrace.com']

describe('an EdgeConnect', () => {
  it.each(SUFFIXES)('belongs to a tenant under %s', async (suffix) => {
    expect(await errors({ apiServer: `tenantid${suffix}` })).toEqual([])
    expect(await errors({ apiServer: suffix })).toHaveLength(1)
  })

  it.each([
    ['doma.in', [/not the host of a tenant/]],
    ['', [/not the host of a tenant/]],
    ['tenant\u0007.apps.dynatrace.com', [/invalid value/]],
    ['http://doma.in', [/no protocol/, /not the host/]],
    ['https://tenant.apps.dynatrace.com', [/no protocol/]],
    ['tenant.apps.dynatrace.com:443', [/no protocol/, /not the host/]],
    ['1abc.apps.dynatrace.com:443', [/invalid value/, /not the host/]],
    ['evil.tld/.apps.dynatrace.com', [/not the host/]],
    ['169.254.169.254/.apps.dynatrace.com', [/not the host/]],
    ['t.apps.dynatrace.com@evil.tld', [/not the host/]],
    ['evil.tld?.apps.dynatrace.com', [/not the host/]],
    ['evil.tld#.apps.dynatrace.com', [/not the host/]],
    ['evil.tld\\.apps.dynatrace.com', [/not the host/]],
    ['evil.tld%2F.apps.dynatrace.com', [/not the host/]],
    ['me@t.apps.dynatrace.com', [/not the host/]],
    ['a b.apps.dynatrace.com', [/not the host/]],
    ['t.apps.dynatrace.com#x', [/not the host/]],
    ['t.apps.dynatrace.com?x', [/not the host/]],
    ['t.apps.dynatrace.com/', [/not the host/]],
    ['//evil.tld/.apps.dynatrace.com', [/not the host/]],
    ['https://evil.tld/.apps.dynatrace.com', [/no protocol/, /not the host/]],
    ['..apps.dynatrace.com', [/not the host/]],
  ])('cannot be at %j', async (apiServer, messages) => {
    expect(await errors({ apiServer })).toEqual(messages.map((message) => expect.stringMatching(message)))
  })

  it('needs host patterns to be provisioned, unless for automation', async () => {
    expect(await errors({ oauth: provisioner })).toEqual([expect.stringContaining('spec.hostPatterns')])
    expect(await errors({ oauth: provisioner, hostPatterns: ['*'] })).toEqual([])
    expect(await errors({ oauth: provisioner, kubernetesAutomation: { enabled: true } })).toEqual([])
  })

  it('needs to be provisioned for automation', async () => {
    // Without other settings of OAuth as well: the rule checks only one of them.
    const bare = { clientSecret: '', endpoint: '', resource: '' }
    for (const oauth of [edgeConnect().spec.oauth, bare]) {
      expect(await errors({ kubernetesAutomation: { enabled: true }, oauth })).toEqual([
        expect.stringContaining('spec.oauth.provisioner'),
      ])
    }
  })

  it('has a service account', async () => {
    expect(await errors({})).toEqual([])
    expect(await errors({ serviceAccountName: '' })).toHaveLength(1)
    const old = { ...edgeConnect({ serviceAccountName: '' }), apiVersion: 'dynatrace.com/v1alpha1' }
    expect((await validateEdgeConnect(old, lookups())).errors).toHaveLength(1)
  })

  it('has a name of at most 40 characters', async () => {
    const named = (length: number) => ({ ...edgeConnect(), metadata: { name: 'a'.repeat(length) } })
    const counts = await Promise.all(
      [39, 40, 41].map(async (length) => (await validateEdgeConnect(named(length), lookups())).errors.length),
    )
    expect(counts).toEqual([0, 0, 1])
  })

  it('is refused where the part was not installed', async () => {
    const { errors: found } = await validateEdgeConnect(edgeConnect(), lookups({ modules: { edgeConnect: false } }))
    expect(found).toEqual([expect.stringMatching(/EdgeConnect.*upgrade the release/)])
  })
})
