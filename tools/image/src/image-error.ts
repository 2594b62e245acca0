/** An image that cannot be built, with the reason and the remedy. */
export class ImageError extends Error {
  override readonly name = 'ImageError'
}
