import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { describeApis } from './public-api.ts'

async function describe(files: Readonly<Record<string, string>>): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'api-'))
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    const exports = { '.': 'index.ts' }
    const options = { allowImportingTsExtensions: true, noLib: true, module: ts.ModuleKind.NodeNext }
    return describeApis([{ name: 'sample', folder, exports }], options)[0]
  } finally {
    await rm(folder, { recursive: true })
  }
}

it('a report has the declarations of a package in the order of their names, without bodies and comments', async () => {
  const report = await describe({
    'index.ts': "export { Queue, add } from './queue.ts'\nexport const LIMIT: number = 3\n",
    'queue.ts': `/** Holds keys. */
export class Queue {
  readonly #keys: string[] = []
  private size = 0
  readonly name: string = 'queue'
  async take(count = 1): Promise<string> { return this.#keys[count] + this.size }
}
export function add(queue: Queue, key: string): void { queue.take() }
`,
  })
  expect(report?.split('\n')).toEqual([
    '// 3 functions, classes and constants; 0 types',
    '',
    '// sample',
    '',
    'const LIMIT: number',
    '',
    'class Queue {',
    '    readonly name: string;',
    '    take(count = 1): Promise<string>;',
    '}',
    '',
    'function add(queue: Queue, key: string): void;',
    '',
  ])
})

it('a type that a public signature uses and no package exports is reported', async () => {
  const report = await describe({
    'index.ts': "export { open } from './file.ts'\n",
    'file.ts': 'export interface Mode { readonly write: boolean }\nexport function open(mode: Mode): void {}\n',
  })
  expect(report).toContain('// not importable: Mode of open in sample\n')
})

it('the implementation of an overloaded function is not part of the report', async () => {
  const report = await describe({
    'index.ts':
      'export function read(name: string): string\nexport function read(name: unknown): unknown { return name }\n',
  })
  expect(report).toContain('function read(name: string): string;')
  expect(report).not.toContain('unknown')
})

it('of a class that is exported as a type, nobody needs the constructor', async () => {
  const report = await describe({
    'index.ts': "export type { Store } from './store.ts'\n",
    'store.ts': `interface Parts { readonly size: number }
export class Store {
  constructor(parts: Parts) { this.size = parts.size }
  readonly size: number
}
`,
  })
  expect(report).toContain('// 0 functions, classes and constants; 1 types')
  expect(report).not.toContain('constructor')
  expect(report).not.toContain('not importable')
})
