/** Names of labels and annotations as the API server accepts them. */

const NAME = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/
const DNS_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const MAX_PREFIX_LENGTH = 253

/**
 * Whether a text can be the name of a label or annotation: a name, after an optional DNS name and a slash.
 *
 * @example
 * isQualifiedName('app.kubernetes.io/version') // true
 */
export function isQualifiedName(text: string): boolean {
  const [first = '', second, ...more] = text.split('/')
  if (more.length > 0) return false
  if (second === undefined) return NAME.test(first)
  return (
    first.length <= MAX_PREFIX_LENGTH && first.split('.').every((label) => DNS_LABEL.test(label)) && NAME.test(second)
  )
}
