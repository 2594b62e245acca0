/** Reads names of images: `registry/repository:tag@digest`. */
import { ImageReferenceError } from './registry-error.ts'

/** The parts of a name as they are written; nothing is checked. */
export interface ImageNameParts {
  /** Absent when the name does not begin with a host. */
  readonly registry?: string
  readonly repository: string
  readonly tag?: string
  readonly digest?: string
}

/** A valid name. */
export interface ImageReference extends ImageNameParts {
  /** Host, possibly with a port. Docker Hub is `index.docker.io`. */
  readonly registry: string
  /** Such as `sha256:…`. */
  readonly digest?: string
}

/** The host of Docker Hub. */
export const DOCKER_HUB = 'index.docker.io'

/** Longer names are rejected; a name counts in full, so that what is printed can be read again. */
const MAX_LENGTH = 512
const MAX_REPOSITORY_LENGTH = 255

const REGISTRY =
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:]+\])(?::[0-9]{1,5})?$/i
const REPOSITORY = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$/

/**
 * The parts of a name. A colon in front of a slash belongs to the port of the registry, and only what looks like a host
 * is one: `team/web` is a repository of Docker Hub.
 *
 * @example
 * splitImageName('host:5000/team/web:1') // { registry: 'host:5000', repository: 'team/web', tag: '1' }
 */
export function splitImageName(text: string): ImageNameParts {
  const at = text.indexOf('@')
  const named = at < 0 ? text : text.slice(0, at)
  const colon = named.lastIndexOf(':')
  const hasTag = colon > named.lastIndexOf('/')
  const name = hasTag ? named.slice(0, colon) : named
  const slash = name.indexOf('/')
  const first = slash < 0 ? '' : name.slice(0, slash)
  const hasRegistry = first === 'localhost' || /[.:]/.test(first)
  return {
    ...(hasRegistry && { registry: first }),
    repository: hasRegistry ? name.slice(slash + 1) : name,
    ...(hasTag && { tag: named.slice(colon + 1) }),
    ...(at >= 0 && { digest: text.slice(at + 1) }),
  }
}

/**
 * A name by the grammar of the distribution specification, as container runtimes read it. Without tag and digest it
 * means the tag `latest`, which is left to the reader.
 *
 * *Errors*: {@link ImageReferenceError} naming the text.
 *
 * @example
 * parseImageReference('nginx') // { registry: 'index.docker.io', repository: 'library/nginx' }
 */
export function parseImageReference(text: string): ImageReference {
  return imageReference(splitImageName(text), text)
}

/**
 * A name from known parts.
 *
 * @param text names the parts in the error
 *
 * *Errors*: {@link ImageReferenceError} when they are not valid.
 *
 * @example
 * imageReference({ registry: 'registry', repository: 'charts/web', tag: '1.2.0' }, 'oci://registry/charts/web')
 */
export function imageReference(parts: ImageNameParts, text: string): ImageReference {
  const reference = validReference(parts)
  if (reference !== undefined && formatImageReference(reference).length <= MAX_LENGTH) return reference
  const shown = JSON.stringify(text.slice(0, MAX_LENGTH))
  throw new ImageReferenceError(`${shown} is not an image reference; write registry/repository:tag or …@sha256:…`)
}

/** The whole name, with the registry and the tag that it leaves out. */
export function formatImageReference({ registry, repository, tag, digest }: ImageReference): string {
  const version = digest === undefined ? `:${tag ?? 'latest'}` : `${tag === undefined ? '' : `:${tag}`}@${digest}`
  return `${registry}/${repository}${version}`
}

/** Whether a text is a digest that can be verified. */
export function isDigest(text: string): boolean {
  return DIGEST.test(text)
}

function validReference(parts: ImageNameParts): ImageReference | undefined {
  const { registry: named = 'docker.io', repository: written, tag, digest } = parts
  const isHub = named === 'docker.io' || named === DOCKER_HUB
  const registry = isHub ? DOCKER_HUB : named
  const repository = isHub && !written.includes('/') ? `library/${written}` : written
  // Lengths first: they bound what the expressions have to do.
  const isValid =
    registry.length + repository.length <= MAX_LENGTH &&
    repository.length <= MAX_REPOSITORY_LENGTH &&
    REGISTRY.test(registry) &&
    REPOSITORY.test(repository) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest))
  if (!isValid) return undefined
  return { registry, repository, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) }
}
