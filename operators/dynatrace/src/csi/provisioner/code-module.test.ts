import { describe, expect, it } from 'vitest'
import type { DynaKube } from '../../api/latest.ts'
import { codeModuleOf } from './code-module.ts'

const VERSION = '1.318.0.20250609-191530'
const IMAGE = 'registry.example.com/modules:1'

function dynakube(
  oneAgent: DynaKube['spec']['oneAgent'],
  codeModules: Readonly<Record<string, string>>,
  flags: Readonly<Record<string, string>> = {},
): DynaKube {
  const annotations = Object.fromEntries(
    Object.entries(flags).map(([name, value]) => [`feature.dynatrace.com/${name}`, value]),
  )
  return {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { name: 'dk', namespace: 'dynatrace', annotations },
    spec: { apiUrl: 'https://abc12345.live.example.com/api', ...(oneAgent && { oneAgent }) },
    status: { codeModules },
  }
}

describe('the agent of a DynaKube', () => {
  it('is downloaded by its version', () => {
    const found = codeModuleOf(dynakube({ cloudNativeFullStack: {} }, { version: VERSION }), true)
    expect(found).toEqual({ method: 'zip', version: VERSION, folder: VERSION })
  })

  it('is pulled from the image of the user, by what the operator found it to be', () => {
    const imageID = `${IMAGE}@sha256:${'0'.repeat(64)}`
    const found = codeModuleOf(dynakube({ cloudNativeFullStack: { codeModulesImage: IMAGE } }, { imageID }), true)
    expect(found).toEqual({ method: 'image', image: imageID, folder: Buffer.from(imageID).toString('base64') })
  })

  it('is copied by a Job if nodes pull images', () => {
    const flags = { 'node-image-pull': 'true' }
    const own = dynakube({ cloudNativeFullStack: { codeModulesImage: IMAGE } }, { imageID: IMAGE }, flags)
    const folder = Buffer.from(IMAGE).toString('base64')
    expect(codeModuleOf(own, true)).toEqual({ method: 'job', image: IMAGE, folder })
    const published = codeModuleOf(dynakube({ cloudNativeFullStack: {} }, { version: VERSION }, flags), true)
    expect(published).toMatchObject({ method: 'job', folder: VERSION })
    expect(published).toHaveProperty('image', expect.stringMatching(`/dynatrace-codemodules:${VERSION}$`))
  })

  it('is copied from the image that its folder is named after, also before the status follows a change', () => {
    const previous = 'registry.example.com/modules:0'
    const mode = { cloudNativeFullStack: { codeModulesImage: IMAGE } }
    const found = codeModuleOf(dynakube(mode, { imageID: previous }, { 'node-image-pull': 'true' }), true)
    expect(found).toEqual({ method: 'job', image: previous, folder: Buffer.from(previous).toString('base64') })
  })

  it('is downloaded although the public registry is on, which only has to know the image', () => {
    const flags = { 'public-registry': 'true' }
    const mode = { cloudNativeFullStack: {} }
    expect(codeModuleOf(dynakube(mode, { version: VERSION }, flags), true)).toBeUndefined()
    expect(codeModuleOf(dynakube(mode, { version: VERSION, imageID: IMAGE }, flags), true)).toMatchObject({
      method: 'zip',
      folder: VERSION,
    })
  })

  it('of applications only comes from an image where the CSI driver is installed', () => {
    const mode = { applicationMonitoring: { codeModulesImage: IMAGE } }
    const status = { version: VERSION, imageID: IMAGE }
    expect(codeModuleOf(dynakube(mode, status), true)).toMatchObject({ method: 'image' })
    expect(codeModuleOf(dynakube(mode, status), false)).toMatchObject({ method: 'zip' })
  })

  it('has a name that a file system accepts, however long its image is', () => {
    const imageID = `registry.example.com/${'long/'.repeat(60)}modules:1`
    const found = codeModuleOf(dynakube({ cloudNativeFullStack: { codeModulesImage: IMAGE } }, { imageID }), true)
    expect(found?.folder).toMatch(/^[0-9a-f]{64}$/)
  })
})
