/** Fuzzes names of images. */
import { attempt, fuzz, sameJson, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { formatImageReference, parseImageReference } from '../src/image-reference.ts'
import { RegistryError } from '../src/registry-error.ts'

const host = fc.constantFrom(
  '',
  'localhost/',
  'registry.example.com/',
  'host:5000/',
  '[::1]:5000/',
  'docker.io/',
  'a..b/',
  '-a/',
)
const path = fc.constantFrom('nginx', 'team/web', 'a__b/c-d', 'UPPER', 'a//b', 'a.-b', 'x'.repeat(250))
const suffix = fc.constantFrom(
  '',
  ':latest',
  ':1.2.3',
  ':',
  `@sha256:${'a'.repeat(64)}`,
  '@sha256:x',
  `:t@sha512:${'0'.repeat(128)}`,
)

fuzz('image-reference', {
  inputs: fc.tuple(host, path, suffix).map((parts) => parts.join('')),
  dictionary: ['/', ':', '@', '@sha256:', 'a-', 'a.', '__', '--', 'localhost', '['],
  run(input) {
    const parsed = attempt(() => parseImageReference(textOf(input)), RegistryError)
    if (parsed === undefined) return
    const printed = formatImageReference(parsed.value)
    sameJson(
      'a printed reference is parsed to the same one',
      formatImageReference(parseImageReference(printed)),
      printed,
    )
  },
})
