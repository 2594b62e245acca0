import { expect, test } from 'vitest'
import { publishedManifest } from './published-manifest.ts'

const source = {
  name: '@reeve/example',
  version: '1.2.3',
  license: 'Apache-2.0',
  exports: { '.': './src/index.ts', './testing': './src/testing/index.ts' },
  bin: { example: './bin/example.js', other: './src/other.ts' },
  scripts: { prepublishOnly: 'exit 1' },
  publishConfig: { directory: 'dist' },
  dependencies: { '@reeve/kube': '1.2.3', undici: '8.1.2', yaml: '2.9.1' },
  peerDependencies: { vitest: '>=4' },
  devDependencies: { '@reeve/fuzz': '1.2.3' },
}
const directory = 'packages/example'

test('exports and commands are compiled files, and launchers stay', () => {
  expect(publishedManifest(source, { directory })).toMatchObject({
    exports: {
      '.': { types: './lib/index.d.ts', default: './lib/index.js' },
      './testing': { types: './lib/testing/index.d.ts', default: './lib/testing/index.js' },
      './package.json': './package.json',
    },
    bin: { example: './bin/example.js', other: './lib/other.js' },
    engines: { node: '>=22.19' },
  })
})

test('users get fixes of other libraries, and our own packages in one version', () => {
  const { dependencies, peerDependencies } = publishedManifest(source, { directory })
  expect(dependencies).toEqual({ '@reeve/kube': '1.2.3', undici: '~8.1.2', yaml: '^2.9.1' })
  expect(peerDependencies).toEqual({ vitest: '>=4' })
})

test('what only the development needs is left out', () => {
  const published = publishedManifest(source, { directory })
  for (const member of ['devDependencies', 'scripts', 'publishConfig', 'private', 'repository']) {
    expect(published).not.toHaveProperty(member)
  }
})

test('the repository is the one that the release runs in', () => {
  expect(publishedManifest(source, { directory, repository: 'owner/name' })).toMatchObject({
    repository: { type: 'git', url: 'git+https://github.com/owner/name.git', directory },
  })
})
