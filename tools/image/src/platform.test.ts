import { expect, it } from 'vitest'
import { imageDefinition } from './image-definitions.ts'
import { parsePlatforms } from './platform.ts'

it('reads platforms in any order, with spaces', () => {
  expect(parsePlatforms('linux/arm64, linux/amd64')).toEqual(['linux/amd64', 'linux/arm64'])
})

it('names the platforms that exist when an unknown one is requested', () => {
  expect(() => parsePlatforms('windows/amd64')).toThrow(
    'unknown platform "windows/amd64"; use linux/amd64, linux/arm64',
  )
})

it.each(['toString', 'unknown'])('names the operators that exist when %s is requested', (name) => {
  expect(() => imageDefinition(name)).toThrow(`unknown operator "${name}"; use webapp, collector, dynatrace`)
})
