/** Which texts name a container image. */
import { parseUrl } from '@reeve/http'

const REPOSITORY = /^[a-z0-9_\-./]{2,255}$/
const TAG = /^[A-Za-z0-9_\-.]{1,128}$/
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** Whether the text is `[registry/]repository[:tag][@digest]`. */
export function isImageReference(text: string): boolean {
  const at = text.indexOf('@')
  if (at >= 0 && !DIGEST.test(text.slice(at + 1))) return false
  const tagged = at < 0 ? text : text.slice(0, at)
  const colon = tagged.lastIndexOf(':')
  // A colon in front of a slash belongs to the port of the registry.
  const hasTag = colon >= 0 && !tagged.slice(colon).includes('/')
  if (hasTag && !TAG.test(tagged.slice(colon + 1))) return false
  const base = hasTag ? tagged.slice(0, colon) : tagged
  const slash = base.indexOf('/')
  const first = slash < 0 ? '' : base.slice(0, slash)
  if (!/[.:]/.test(first)) return REPOSITORY.test(base)
  return parseUrl(`//${first}`)?.host === first && REPOSITORY.test(base.slice(slash + 1))
}
