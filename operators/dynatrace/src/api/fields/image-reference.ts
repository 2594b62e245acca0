/** A container image as two fields. */
import { group, requiredGroup, text } from './fields.ts'

const halves = (example: string) => ({
  repository: text('Where the image is, without a tag.', { example }),
  tag: text('Which build of it.'),
})

const ANY_IMAGE = 'docker.io/dynatrace/image-name'

/** An image reference. */
export const imageRef = (description: string, example = ANY_IMAGE) => group(halves(example), description)

/** The same where it must be given. */
export const requiredImageRef = (description: string) => requiredGroup(halves(ANY_IMAGE), description)
