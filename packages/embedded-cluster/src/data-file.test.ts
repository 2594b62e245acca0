import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dataFile } from './data-file.ts'

it('the data files of the package are found', () => {
  for (const name of ['discovery.json', 'openapi-definitions.json', 'protobuf.json', 'go-types.json']) {
    expect([name, existsSync(dataFile(name))]).toEqual([name, true])
  }
})

it('data files are searched for next to the program that the package was bundled into', () => {
  const bundle = 'file:///nowhere/app/operator.js'
  expect(dataFile('discovery.json', bundle).href).toBe('file:///nowhere/app/data/discovery.json')
})
