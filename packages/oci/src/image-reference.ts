/** Reads names of images: `registry/repository:tag@digest`. */
import { ImageReferenceError } from './registry-error.ts'

/** A parsed name. */
export interface ImageReference {
  /** Host, possibly with a port. Docker Hub is `index.docker.io`. */
  readonly registry: string
  readonly repository: string
  /** `latest` when the name has neither tag nor digest. */
  readonly tag?: string
  /** Such as `sha256:…`. */
  readonly digest?: string
}

export const DOCKER_HUB = 'index.docker.io'

const REGISTRY =
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:]+\])(?::[0-9]{1,5})?$/i
const REPOSITORY = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/
const MAX_REPOSITORY_LENGTH = 255

/**
 * The parts of a name.
 *
 * *Errors*: {@link ImageReferenceError} naming the text.
 *
 * @example
 * parseImageReference('nginx') // { registry: 'index.docker.io', repository: 'library/nginx', tag: 'latest' }
 */
export function parseImageReference(text: string): ImageReference {
  const [named = '', digest, ...more] = text.split('@')
  const colon = named.lastIndexOf(':')
  const hasTag = colon > named.lastIndexOf('/')
  const name = hasTag ? named.slice(0, colon) : named
  const tag = hasTag ? named.slice(colon + 1) : undefined
  const { registry, repository } = splitRegistry(name)
  const isValid =
    more.length === 0 &&
    REGISTRY.test(registry) &&
    repository.length <= MAX_REPOSITORY_LENGTH &&
    REPOSITORY.test(repository) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest))
  if (!isValid) {
    throw new ImageReferenceError(`${JSON.stringify(text)} names no image; write registry/repository:tag or …@sha256:…`)
  }
  return {
    registry,
    repository,
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
    ...(tag === undefined && digest === undefined && { tag: 'latest' }),
  }
}

/** Whether a text is a digest that can be verified. */
export function isDigest(text: string): boolean {
  return DIGEST.test(text)
}

function splitRegistry(name: string): Pick<ImageReference, 'registry' | 'repository'> {
  const slash = name.indexOf('/')
  const first = slash < 0 ? '' : name.slice(0, slash)
  // Only what looks like a host is one; `team/web` is a repository of Docker Hub.
  const hasRegistry = first === 'localhost' || /[.:]/.test(first)
  const registry = hasRegistry ? first : 'docker.io'
  const repository = hasRegistry ? name.slice(slash + 1) : name
  if (registry !== 'docker.io' && registry !== DOCKER_HUB) return { registry, repository }
  return { registry: DOCKER_HUB, repository: repository.includes('/') ? repository : `library/${repository}` }
}
