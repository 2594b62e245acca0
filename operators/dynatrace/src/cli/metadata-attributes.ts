/** Attributes of a node, from the form of an argument to that of a properties file. */

/** Thrown for a list of attributes that makes no file. */
export class MetadataAttributesError extends Error {
  readonly code = 'METADATA_ATTRIBUTES'
  override readonly name = 'MetadataAttributesError'
}

/**
 * The lines of the file, one for each attribute. Space around attributes and empty ones between commas do not count.
 *
 * *Errors*: {@link MetadataAttributesError} naming the part that is not an attribute, or if there are none.
 *
 * @example
 * attributeLines('k8s.cluster.name=shop, k8s.node.name=a') // 'k8s.cluster.name=shop\nk8s.node.name=a\n'
 */
export function attributeLines(list: string): string {
  const attributes = list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const wrong = attributes.find((attribute) => !attribute.includes('='))
  if (wrong !== undefined) {
    throw new MetadataAttributesError(`--attributes: ${JSON.stringify(wrong)} is not an attribute; write key=value`)
  }
  if (attributes.length === 0) throw new MetadataAttributesError('--attributes is empty; write key=value')
  return `${attributes.join('\n')}\n`
}
