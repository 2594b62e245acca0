/** Fuzzes docker configs, manifests, indexes and challenges. */
import { attempt, fuzz, jsonOf, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { parseChallenge } from '../src/challenge.ts'
import { credentialsFor, mergeDockerConfigs, parseDockerConfig } from '../src/docker-config.ts'
import { linuxPlatform, parseManifest, selectPlatform } from '../src/manifest.ts'
import { RegistryError } from '../src/registry-error.ts'

const digest = fc.constantFrom(`sha256:${'a'.repeat(64)}`, 'sha256:x', '')
const descriptor = fc.record({
  mediaType: fc.constantFrom('application/vnd.oci.image.layer.v1.tar+gzip', ''),
  digest,
  size: fc.constantFrom(1, -1, 1e300),
})
const platform = fc.record({ os: fc.constantFrom('linux', 'windows'), architecture: fc.constantFrom('amd64', 'arm64') })
const auth = fc.record(
  { auth: fc.constantFrom('dTpw', 'x', '='), username: fc.constant('u'), identitytoken: fc.constant('t') },
  { requiredKeys: [] },
)
const challenge = fc
  .tuple(
    fc.constantFrom('Bearer ', 'Basic ', 'bearer\t', ''),
    fc.array(fc.constantFrom('realm="https://a/t"', 'realm=x', 'service="s\\"x"', 'scope="a:b"', 'realm="'), {
      maxLength: 3,
    }),
  )
  .map(([scheme, parts]) => scheme + parts.join(','))

fuzz('registry-document', {
  inputs: fc.oneof(
    jsonOf({
      mediaType: fc.constantFrom('application/vnd.oci.image.manifest.v1+json', 'x'),
      config: descriptor,
      layers: fc.array(descriptor, { maxLength: 3 }),
    }),
    jsonOf({
      mediaType: fc.constant('application/vnd.oci.image.index.v1+json'),
      manifests: fc.array(
        fc.tuple(descriptor, platform).map(([one, where]) => ({ ...one, platform: where })),
        { maxLength: 3 },
      ),
    }),
    jsonOf({
      auths: fc.dictionary(fc.constantFrom('https://index.docker.io/v1/', 'host:5000', '__proto__'), auth, {
        maxKeys: 3,
      }),
    }),
    challenge,
  ),
  dictionary: [
    'auths',
    'auth',
    'manifests',
    'layers',
    'config',
    'digest',
    'size',
    'platform',
    'mediaType',
    'Bearer ',
    'realm="',
    'service=',
    '\\"',
    ',',
  ],
  isJson: true,
  run(input) {
    const text = textOf(input)
    parseChallenge(text)
    const config = attempt(() => parseDockerConfig(text, 'Secret a/b'), RegistryError)
    if (config !== undefined)
      credentialsFor(mergeDockerConfigs([config.value, config.value]), { registry: 'host:5000', repository: 'a' })
    const manifest = attempt(() => parseManifest('image', input, 'application/json'), RegistryError)
    if (manifest === undefined) return
    const content = manifest.value
    if ('manifests' in content) attempt(() => selectPlatform('image', content, linuxPlatform('x64')), RegistryError)
  },
})
