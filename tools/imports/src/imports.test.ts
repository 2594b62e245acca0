import { describe, expect, it } from 'vitest'
import { folderCycles } from './folder-cycles.ts'
import { importsOf } from './import-graph.ts'
import { layerProblems } from './package-layers.ts'

const edge = (from: string, to: string) => ({ from, to })

describe('the imports of a file', () => {
  it('are found in every form, and not in examples', () => {
    const text = [
      "import { a } from './a.ts'",
      'import type {',
      '  B,',
      "} from '../b.ts'",
      "export * from '@reeve/kube'",
      "import 'reflect-metadata'",
      '/**',
      " * import { x } from './example.ts'",
      ' */',
      "const { c } = await import('./deep/c.ts')",
    ].join('\n')
    expect(importsOf('packages/x/src/sub/file.ts', text).map(({ to }) => to)).toEqual([
      'packages/x/src/sub/a.ts',
      'packages/x/src/b.ts',
      '@reeve/kube',
      'reflect-metadata',
      'packages/x/src/sub/deep/c.ts',
    ])
  })
})

describe('layers', () => {
  const layers = { 'packages/kube': [], 'packages/runtime': ['kube'] }

  it('allow imports downwards and within a package', () => {
    const allowed = [
      edge('packages/runtime/src/a.ts', '@reeve/kube'),
      edge('packages/runtime/src/a.ts', 'packages/runtime/src/b.ts'),
      edge('packages/kube/src/a.ts', 'undici'),
    ]
    expect(layerProblems(allowed, layers)).toEqual([])
  })

  it('refuse imports upwards, past the name of a package, and of packages without a layer', () => {
    const refused = [
      edge('packages/kube/src/a.ts', '@reeve/runtime/testing'),
      edge('packages/runtime/src/a.ts', 'packages/kube/src/b.ts'),
      edge('packages/new/src/a.ts', '@reeve/kube'),
    ]
    expect(layerProblems(refused, layers)).toEqual([
      'packages/kube/src/a.ts imports @reeve/runtime, which packages/kube must not know',
      'packages/runtime/src/a.ts imports packages/kube/src/b.ts: import the package by its name',
      'packages/new has no layer: add it to package-layers.ts',
    ])
  })
})

describe('cycles of folders', () => {
  it('are found among folders side by side, over any number of steps', () => {
    const imports = [edge('s/a/x.ts', 's/b/y.ts'), edge('s/b/y.ts', 's/c/z.ts'), edge('s/c/z.ts', 's/a/deep/w.ts')]
    expect(folderCycles(imports)).toEqual([['s/a', 's/b', 's/c']])
    expect(folderCycles(imports.slice(1))).toEqual([])
  })

  it('are not reported between a folder and its subfolders', () => {
    expect(folderCycles([edge('s/a.ts', 's/b/x.ts'), edge('s/b/x.ts', 's/a.ts')])).toEqual([])
  })
})
