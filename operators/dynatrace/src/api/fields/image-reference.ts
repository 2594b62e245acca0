/** A container image as two fields, and when it is pulled. */
import { oneOf } from '@reeve/crd'
import { Type } from 'typebox'
import { group, requiredGroup, text } from './fields.ts'

/** When the kubelet pulls an image. */
export const pullPolicy = (image: string, byDefault = 'Always') =>
  Type.Optional(
    oneOf(['Always', 'IfNotPresent', 'Never'], {
      description: `When ${image} is pulled: Always, IfNotPresent or Never; ${byDefault} when left out.`,
    }),
  )

const halves = (example: string) => ({
  repository: text('The repository of the image, without a tag.', { example }),
  tag: text('The tag of the image.'),
  pullPolicy: pullPolicy('the image', 'the default of the workload'),
})

const ANY_IMAGE = 'docker.io/dynatrace/image-name'

/** An image reference. */
export const imageRef = (description: string, example = ANY_IMAGE) => group(halves(example), description)

/** A required image reference. */
export const requiredImageRef = (description: string) => requiredGroup(halves(ANY_IMAGE), description)
