/** Container image references: what they are made of, and whether one is well formed. */

/** `registry.example.com:5000/team/shop:1.2@sha256:…` taken apart. */
export interface ImageReference {
  /** Everything before the tag and the digest. */
  readonly repository: string
  readonly tag: string | undefined
  readonly digest: string | undefined
}

const HOST_LABEL = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])'
const REGISTRY = `${HOST_LABEL}(?:\\.${HOST_LABEL})*(?::[0-9]+)?|\\[[0-9a-fA-F:]+\\](?::[0-9]+)?`
const PATH_PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const REPOSITORY = `(?:(?:${REGISTRY})/)?${PATH_PART}(?:/${PATH_PART})*`
const TAG = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}'
const DIGEST = '[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,}'
const REFERENCE = new RegExp(`^(?<repository>${REPOSITORY})(?::(?<tag>${TAG}))?(?:@(?<digest>${DIGEST}))?$`)

/**
 * Parses an image reference; `undefined` when it is none.
 *
 * @example
 * parseImageReference('nginx:1.29') // { repository: 'nginx', tag: '1.29', digest: undefined }
 */
export function parseImageReference(text: string): ImageReference | undefined {
  // The grammar is linear, but an absurdly long input is refused before it is looked at.
  if (text.length > 512) return undefined
  const groups = REFERENCE.exec(text)?.groups
  if (groups?.repository === undefined) return undefined
  return { repository: groups.repository, tag: groups.tag, digest: groups.digest }
}
