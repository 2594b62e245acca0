/** Which version of an image a reference names. */

/** What follows the name of an image: both parts are optional. */
export interface ImageVersion {
  readonly tag?: string
  /** Such as `sha256:…`. */
  readonly digest?: string
}

/** Longer references are rejected before they are matched. */
const MAX_LENGTH = 512
const MAX_REPOSITORY_LENGTH = 255

const LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const HOST = `(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9a-fA-F:]+\\])(?::[0-9]{1,5})?`
/** The first part is a host only if it looks like one: `team/web` is a repository of Docker Hub. */
const LIKE_HOST = '(?:localhost|[^/]*[.:][^/]*)/'
const NAME = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const TAG = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}'
const DIGEST = 'sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}'

/** By the grammar of the distribution specification. */
const REFERENCE = new RegExp(
  `^(?:(?=${LIKE_HOST})${HOST}/|(?!${LIKE_HOST}))` +
    `(?<repository>${NAME}(?:/${NAME})*)(?::(?<tag>${TAG}))?(?:@(?<digest>${DIGEST}))?$`,
)

/**
 * The tag and the digest of an image reference; `undefined` for a text that is none.
 *
 * @example
 * imageVersion('registry.example/team/web:1.2') // { tag: '1.2' }
 */
export function imageVersion(reference: string): ImageVersion | undefined {
  const { repository, ...version } = (reference.length <= MAX_LENGTH && REFERENCE.exec(reference)?.groups) || {}
  return repository !== undefined && repository.length <= MAX_REPOSITORY_LENGTH ? version : undefined
}
