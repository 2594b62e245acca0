import { expect, it } from 'vitest'
import { billOfMaterials, type Materials } from './sbom.ts'

const materials: Materials = {
  name: 'some-operator',
  version: '1.2.3',
  workspace: 'operators/some',
  nodeVersion: '24.0.0',
  debian: { libc6: { version: '2.36-9+deb12u1', sha256: {} } },
  lock: {
    packages: {
      'operators/some': { name: '@reeve/some', dependencies: { '@reeve/kube': '0.1.0', yaml: '2.0.0' } },
      'node_modules/@reeve/kube': { link: true, resolved: 'packages/kube' },
      'packages/kube': { name: '@reeve/kube', version: '0.1.0', dependencies: { undici: '8.0.0', yaml: '1.0.0' } },
      'packages/kube/node_modules/yaml': { version: '1.0.0', license: 'ISC' },
      'node_modules/yaml': { version: '2.0.0', license: 'ISC' },
      'node_modules/undici': { version: '8.0.0', license: 'MIT', integrity: 'sha512-AQID' },
      'node_modules/vitest': { version: '5.0.0' },
    },
  },
}

interface Bom {
  readonly serialNumber: string
  readonly components: readonly { readonly purl: string; readonly hashes?: readonly object[] }[]
}
const read = (text: string) => JSON.parse(text) as Bom

it('the bill of materials lists Node, Debian packages and what the operator depends on, but no tools of development', () => {
  const { components } = read(billOfMaterials(materials))
  expect(components.map(({ purl }) => purl)).toEqual([
    'pkg:generic/node@24.0.0',
    'pkg:deb/debian/libc6@2.36-9%2Bdeb12u1',
    'pkg:npm/%40reeve/kube@0.1.0',
    'pkg:npm/undici@8.0.0',
    'pkg:npm/yaml@1.0.0',
    'pkg:npm/yaml@2.0.0',
  ])
  expect(components.find(({ purl }) => purl.includes('undici'))?.hashes).toEqual([
    { alg: 'SHA-512', content: '010203' },
  ])
})

it('the bill of materials is the same for the same materials, and has another serial number for others', () => {
  expect(billOfMaterials(materials)).toBe(billOfMaterials({ ...materials }))
  const other = read(billOfMaterials({ ...materials, nodeVersion: '24.0.1' }))
  expect(other.serialNumber).not.toBe(read(billOfMaterials(materials)).serialNumber)
})
