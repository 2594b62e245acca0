/** Which texts the webhook takes for the name of a container image. */
import { parseUrl } from '@reeve/http/url-reference'
import { splitImageName } from '@reeve/oci/image-reference'

const REPOSITORY = /^[a-z0-9_\-./]{2,255}$/
const TAG = /^[A-Za-z0-9_\-.]{1,128}$/
const DIGEST = /^sha256:[0-9a-f]{64}$/

/**
 * Whether the text may name an image. Only the letters of each part are checked, not how they follow each other: a
 * DynaKube that was accepted before must stay acceptable, and the node reports other problems when it pulls the image.
 */
export function mayBeImage(text: string): boolean {
  const { registry, repository, tag, digest } = splitImageName(text)
  return (
    (registry === undefined || parseUrl(`//${registry}`)?.host === registry) &&
    REPOSITORY.test(repository) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest))
  )
}
