import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dataFile } from './data-file.ts'

it('finds the data files of the package', () => {
  for (const name of ['discovery.json', 'openapi-definitions.json', 'protobuf.json', 'go-types.json']) {
    expect([name, existsSync(dataFile(name))]).toEqual([name, true])
  }
})

it('searches next to the program that it was bundled into', () => {
  const bundle = 'file:///nowhere/app/operator.js'
  expect(dataFile('discovery.json', bundle).href).toBe('file:///nowhere/app/data/discovery.json')
})
