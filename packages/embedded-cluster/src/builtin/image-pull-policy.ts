/** The default image pull policy. */
import type { JsonValue } from '../json.ts'

/** An image without a tag, or tagged `latest`, is pulled each time. */
export function defaultPullPolicy(image: JsonValue | undefined): string {
  const text = typeof image === 'string' ? image : ''
  const name = text.slice(text.lastIndexOf('/') + 1)
  if (name.includes('@')) return 'IfNotPresent'
  const tag = name.includes(':') ? name.slice(name.indexOf(':') + 1) : 'latest'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}
