import { expect, it } from 'vitest'
import { imageDefinition } from './image-definitions.ts'
import { parsePlatforms } from './platform.ts'

it('platforms are read in any order, with spaces', () => {
  expect(parsePlatforms('linux/arm64, linux/amd64')).toEqual(['linux/amd64', 'linux/arm64'])
})

it('the error for an unknown platform names those that exist', () => {
  expect(() => parsePlatforms('windows/amd64')).toThrow(
    'unknown platform "windows/amd64"; use linux/amd64, linux/arm64',
  )
})

it.each(['toString', 'unknown'])('the error for the operator %s names those that exist', (name) => {
  expect(() => imageDefinition(name)).toThrow(`unknown operator "${name}"; use webapp, collector, dynatrace`)
})
