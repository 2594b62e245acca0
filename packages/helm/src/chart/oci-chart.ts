/** Finds and pulls a chart that is stored in an OCI registry. */

import type { Sender } from '@reeve/http'
import {
  createRegistryClient,
  type Descriptor,
  type ImageReference,
  ImageReferenceError,
  imageReference,
  type RegistryClient,
  type RegistryImage,
} from '@reeve/oci'
import { ChartInvalidError, ChartNotFoundError, DigestMismatchError } from '../errors.ts'
import { parseDigest } from './chart-digest.ts'
import { asChartError } from './chart-http.ts'
import type { OciSource } from './chart-source.ts'
import { chooseVersion, isExactVersion } from './choose-version.ts'

const CHART_LAYER_TYPES = ['application/vnd.cncf.helm.chart.content.v1.tar+gzip', 'application/tar+gzip']

/** Callers retry a source that fails, and use the cache meanwhile. */
const NO_RETRIES = { maxRetries: 0, baseDelayMs: 0, maxDelayMs: 0, maxRetryAfterMs: 0 }

/** Options of a request. */
export interface OciOptions {
  readonly sender: Sender
  /** The chart, for errors. */
  readonly what: string
  readonly signal: AbortSignal
}

/** The chart that a source currently refers to. */
export interface OciChart {
  readonly name: string
  readonly version: string
  /** Of the archive. */
  readonly digest: string
  /** The archive itself. */
  pull(maxBytes: number): Promise<Buffer>
}

/**
 * Chooses the version and finds its archive.
 *
 * *Errors*: those of charts, see `asChartError`; the reason of the signal.
 */
export async function findOciChart(source: OciSource, options: OciOptions): Promise<OciChart> {
  const { what, signal, sender } = options
  const repository = repositoryOf(source, what)
  const registry = createRegistryClient({
    sender,
    retries: NO_RETRIES,
    env: {},
    plainHttp: source.plainHttp === true ? 'always' : 'never',
    credentials: new Map([[repository.registry, credentialsOf(source)]]),
  })
  return bounded(options, async () => {
    const version = await versionOf(source, what, () => registry.tags(repository, { signal }))
    // A tag may not contain "+", so Helm writes "_" for it.
    const tagged = { ...repository, tag: version.replaceAll('+', '_') }
    const image = await registry.image(tagged, { signal })
    const layer = chartLayer(image, what)
    const { digest } = layer
    if (source.digest !== undefined) {
      const expected = parseDigest(source.digest, `${what}: digest`)
      if (![digest, image.digest].includes(expected)) throw new DigestMismatchError(what, { expected, actual: digest })
    }
    const name = repository.repository.split('/').at(-1) ?? ''
    const pull = (maxBytes: number) => bounded(options, () => pullLayer(registry, { image, layer, maxBytes }, options))
    return { name, version, digest, pull }
  })
}

async function versionOf(
  { version: wanted }: OciSource,
  what: string,
  tags: () => Promise<readonly string[]>,
): Promise<string> {
  if (isExactVersion(wanted)) return wanted
  const versions = (await tags()).map((tag) => tag.replaceAll('_', '+'))
  const version = chooseVersion(versions, wanted)
  if (version !== undefined) return version
  throw new ChartNotFoundError(
    `${what}: no version matches "${wanted ?? ''}" (pre-releases must be requested explicitly)`,
  )
}

async function pullLayer(
  registry: RegistryClient,
  { image, layer, maxBytes }: { readonly image: RegistryImage; readonly layer: Descriptor; readonly maxBytes: number },
  { what, signal }: OciOptions,
): Promise<Buffer> {
  // The content is limited to the size in the manifest.
  if (layer.size > maxBytes) throw new ChartInvalidError(`${what} is larger than ${maxBytes} bytes`)
  const chunks: Uint8Array[] = []
  for await (const chunk of registry.blob(image, layer, { signal })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function chartLayer({ manifest }: RegistryImage, what: string): Descriptor {
  const layer = manifest.layers.find(({ mediaType }) => CHART_LAYER_TYPES.includes(mediaType))
  if (layer !== undefined) return layer
  throw new ChartInvalidError(`${what} is not a chart: its manifest has no chart layer`)
}

function repositoryOf({ url }: OciSource, what: string): ImageReference {
  const [, registry = '', repository = ''] = /^oci:\/\/([^/]*)\/(.*?)\/?$/s.exec(url) ?? []
  try {
    return imageReference({ registry, repository }, url)
  } catch (error) {
    if (!(error instanceof ImageReferenceError)) throw error
    throw new ChartInvalidError(`${what} is not a chart address: write oci://registry/path/chart`)
  }
}

function credentialsOf({ credentials: { username, password, token } = {} }: OciSource) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(token !== undefined && { registryToken: token }),
  }
}

async function bounded<T>({ what, signal }: OciOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    throw asChartError(what, error)
  }
}
