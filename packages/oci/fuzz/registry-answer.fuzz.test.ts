/** Fuzzes what a registry and its token server answer. */
import { createHash } from 'node:crypto'
import { attemptAsync, fuzz, jsonOf, jsonValue, textOf } from '@reeve/fuzz'
import { HttpError } from '@reeve/http'
import { readScript, ScriptedSender } from '@reeve/http/testing'
import fc from 'fast-check'
import { parseDockerConfig } from '../src/docker-config.ts'
import { createRegistryClient, type RegistryClient } from '../src/registry-client.ts'
import { RegistryError } from '../src/registry-error.ts'

const image = 'registry.example.com/team/web:1'
const calls: Readonly<Record<string, (client: RegistryClient) => Promise<unknown>>> = {
  digest: (client) => client.digest(image),
  image: (client) => client.image(image, { platform: { os: 'linux', architecture: 'amd64' } }),
  labels: async (client) => client.labels(await client.image(image)),
  blob: readBlob,
}

async function readBlob(client: RegistryClient): Promise<number> {
  const found = await client.image(image)
  let bytes = 0
  for await (const chunk of client.blob(found, found.manifest.config)) bytes += chunk.byteLength
  return bytes
}

const config = '{"config":{"Labels":{"version":"1"}}}'
const manifest = {
  mediaType: 'application/vnd.oci.image.manifest.v1+json',
  config: {
    mediaType: 'x',
    digest: `sha256:${createHash('sha256').update(config).digest('hex')}`,
    size: config.length,
  },
  layers: [],
}
const challenge = { 'www-authenticate': 'Bearer realm="https://auth.example.com/token",service="r"' }
const headers = fc.constantFrom<Record<string, string>>(
  {},
  challenge,
  { 'www-authenticate': 'Basic' },
  { location: 'https://x/' },
  { 'docker-content-digest': 'sha256:x' },
  { 'retry-after': '0' },
  { 'content-type': 'application/vnd.oci.image.index.v1+json' },
)
const answer = fc.record({
  status: fc.constantFrom(200, 200, 200, 401, 403, 404, 302, 307, 429, 503),
  headers,
  body: fc.oneof(
    fc.constant(manifest),
    fc.constant(config),
    fc.constant({ token: 't', expires_in: 60 }),
    fc.constant({ errors: [{ code: 'DENIED', message: 'x' }] }),
    jsonValue,
  ),
})

const credentials = parseDockerConfig('{"auths":{"registry.example.com":{"auth":"dTpw"}}}', 'test')

fuzz('registry-answer', {
  inputs: jsonOf({
    call: fc.constantFrom(...Object.keys(calls)),
    answers: fc.array(answer, { minLength: 1, maxLength: 6 }),
  }),
  seeds: [
    JSON.stringify({
      call: 'labels',
      answers: [{ status: 200 }, { status: 200, body: manifest }, { status: 200, body: config }],
    }),
    JSON.stringify({
      call: 'blob',
      answers: [
        { status: 401, headers: challenge },
        { status: 200, body: { token: 't' } },
        { status: 200, body: manifest },
        { status: 200, body: config },
      ],
    }),
  ],
  dictionary: [
    'www-authenticate',
    'location',
    'docker-content-digest',
    'token',
    'access_token',
    'expires_in',
    'errors',
    'manifests',
    'config',
    'layers',
    'digest',
    'size',
    'Labels',
  ],
  isJson: true,
  async run(input) {
    const script = readScript(textOf(input))
    const call = script !== undefined && Object.hasOwn(calls, script.call) ? calls[script.call] : undefined
    if (script === undefined || call === undefined) return
    const retries = { maxRetries: 0, baseDelayMs: 0, maxDelayMs: 0, maxRetryAfterMs: 0 }
    const client = createRegistryClient({
      sender: new ScriptedSender(...script.answers),
      retries,
      credentials,
      env: {},
    })
    await attemptAsync(() => call(client), RegistryError, HttpError)
    await client.close()
  },
})
