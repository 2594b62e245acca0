import { describe, expect, it } from 'vitest'
import { dynakube } from '../testing/build.ts'
import { versionSource } from './version-source.ts'

const flags = { 'public-registry': 'true' }

describe('the version of a component', () => {
  it('comes from an image before the public registry, a version and the registry of the tenant', () => {
    const source = (spec: object, isPublic: boolean) =>
      versionSource(dynakube({ oneAgent: { hostMonitoring: spec } }, isPublic ? { flags } : {}), 'oneAgent', true)
    expect(source({ image: 'i', version: 'v' }, true)).toBe('custom-image')
    expect(source({ version: 'v' }, true)).toBe('public-registry')
    expect(source({ version: 'v' }, false)).toBe('custom-version')
    expect(source({}, false)).toBe('tenant-registry')
  })

  it('never comes from the public registry for agents and gateways of classicFullStack', () => {
    const object = dynakube({ oneAgent: { classicFullStack: {} } }, { flags })
    expect(versionSource(object, 'oneAgent', true)).toBe('tenant-registry')
    expect(versionSource(object, 'activeGate', true)).toBe('tenant-registry')
  })

  it('is pinned for code modules together with the agent in cloudNativeFullStack', () => {
    const object = dynakube({ oneAgent: { cloudNativeFullStack: { version: 'v' } } })
    expect(versionSource(object, 'codeModules', true)).toBe('custom-version')
    expect(versionSource(object, 'activeGate', true)).toBe('tenant-registry')
  })
})
