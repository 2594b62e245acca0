/** Writes as field changes that may be kept and shown: without secrets, and bounded. */
import type { KubeObject } from '@reeve/kube'
import { concealer, essence, fieldDiff, SENSITIVE } from '@reeve/plan/differences'
import type { DescribeWrite } from '@reeve/runtime/controller'
import { CONSOLE_LIMITS } from '../limits.ts'
import type { FieldChange } from '../wire.ts'
import { isSecretPath, type Redact, redactorFor, withoutSecrets } from './secrets.ts'

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
    // A status may repeat what the specification keeps secret.
    const redact = redactorFor(
      patterns,
      [before, after].filter((state) => state !== undefined),
    )
    const kind = after?.kind ?? before?.kind ?? ''
    const part = subresource === 'status' ? statusOf : essence
    const old = before && part(before)
    const now = after && part(after)
    // A whole object, created or deleted, is described by its main fields only.
    const changes = fieldDiff(old ?? {}, now ?? {})
    const shown = changes.slice(0, CONSOLE_LIMITS.changesPerWrite).map(({ path, ...values }) => ({
      path,
      ...('before' in values && { before: shownValue(kind, path, values.before, redact) }),
      ...('after' in values && { after: shownValue(kind, path, values.after, redact) }),
    }))
    const omitted = changes.length - shown.length
    return omitted > 0 ? [...shown, { path: `… ${omitted} more fields` } satisfies FieldChange] : shown
  }
}

function statusOf(object: KubeObject): Readonly<Record<string, unknown>> {
  const { status } = object as { readonly status?: unknown }
  return { status }
}

function shownValue(kind: string, path: string, value: unknown, redact: Redact): unknown {
  if (typeof value === 'string' && isSecretPath(path)) return SENSITIVE
  return bounded(withoutSecrets(conceal(kind, path, value), redact))
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
