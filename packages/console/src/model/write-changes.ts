/** Writes as field changes that may be kept and shown: without secrets, and bounded. */
import { isRecord, isSecretKey, type KubeObject, redactText } from '@reeve/kube'
import { concealer, essence, fieldDiff, SENSITIVE } from '@reeve/plan/differences'
import type { DescribeWrite } from '@reeve/runtime/controller'
import { CONSOLE_LIMITS } from '../limits.ts'
import type { FieldChange } from '../wire.ts'

const conceal = concealer()

/**
 * Describes writes for the journal of a console.
 *
 * *Guarantees*: data of Secrets is replaced before anything is kept; so is whatever looks like a credential.
 *
 * @param patterns additional secrets, such as the tokens of a vendor
 *
 * @example
 * writeDescriber()({ verb: 'create', resource: Secrets, before: undefined, after: secret, subresource: undefined })
 */
export function writeDescriber(patterns: readonly RegExp[] = []): DescribeWrite {
  return ({ subresource, before, after }) => {
    const kind = after?.kind ?? before?.kind ?? ''
    const part = subresource === 'status' ? statusOf : essence
    const old = before && part(before)
    const now = after && part(after)
    // A whole object, created or deleted, is described by its main fields only.
    const changes = fieldDiff(old ?? {}, now ?? {})
    const shown = changes.slice(0, CONSOLE_LIMITS.changesPerWrite).map(({ path, ...values }) => ({
      path,
      ...('before' in values && { before: shownValue(kind, path, values.before, patterns) }),
      ...('after' in values && { after: shownValue(kind, path, values.after, patterns) }),
    }))
    const omitted = changes.length - shown.length
    return omitted > 0 ? [...shown, { path: `… ${omitted} more fields` } satisfies FieldChange] : shown
  }
}

function statusOf(object: KubeObject): Readonly<Record<string, unknown>> {
  const { status } = object as { readonly status?: unknown }
  return { status }
}

function shownValue(kind: string, path: string, value: unknown, patterns: readonly RegExp[]): unknown {
  if (typeof value === 'string' && isSecretPath(path)) return SENSITIVE
  return bounded(withoutSecrets(conceal(kind, path, value), patterns))
}

/** Such as `spec.password`, or `spec.env[name=API_TOKEN].value`. */
function isSecretPath(path: string): boolean {
  const [, item] = /\[name=([^\]]+)\]\.value$/.exec(path) ?? []
  const [last = ''] = /[^.[\]]+\]?$/.exec(path) ?? []
  return isSecretKey(item ?? last.replace(/\]$/, ''))
}

/**
 * A copy without credentials: values of members that are named like secrets, and texts that look like them.
 *
 * @example
 * withoutSecrets({ password: 'hunter2' }) // { password: '(sensitive)' }
 */
export function withoutSecrets(value: unknown, patterns: readonly RegExp[] = []): unknown {
  if (typeof value === 'string') return redactText(value, patterns)
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, patterns))
  if (!isRecord(value)) return value
  // A variable of a container that is named like a secret.
  const isNamedSecret = typeof value.name === 'string' && isSecretKey(value.name)
  const isSecret = (name: string) => isSecretKey(name) || (isNamedSecret && name === 'value')
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isSecret(name) && typeof member === 'string' ? SENSITIVE : withoutSecrets(member, patterns),
    ]),
  )
}

/** Long values are cut: the journal is bounded, and nobody reads them in a table. */
function bounded(value: unknown): unknown {
  if (typeof value === 'string') return cut(value)
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value)
  return text.length <= CONSOLE_LIMITS.valueLength ? value : cut(text)
}

function cut(text: string): string {
  return text.length <= CONSOLE_LIMITS.valueLength ? text : `${text.slice(0, CONSOLE_LIMITS.valueLength)}…`
}
