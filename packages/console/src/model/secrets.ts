/** What must not be shown: by the names of fields, by how texts look, and by the values that are known to be secret. */
import { isRecord, isSecretKey, redactText, secretRedactor } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'
import { SENSITIVE } from '@reeve/plan/differences'

/** A text without secrets. */
export type Redact = (text: string) => string

/** The whole object, with all its secrets, as a text. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** A line such as `password: hunter2` or `API_TOKEN=abc` of a file in a ConfigMap. */
const SETTING = /^([ \t]*(?:- )?["']?([\w.-]+)["']?[ \t]*[:=][ \t]*)(\S.*)$/gm

/**
 * Redacts texts about objects: what looks like a secret, and the secrets that the objects themselves contain.
 *
 * @param patterns additional secrets, such as the tokens of a vendor
 *
 * @example
 * redactorFor([], [vault])('invalid token hunter2') // 'invalid token [redacted]'
 */
export function redactorFor(patterns: readonly RegExp[], objects: readonly KubeObject[] = []): Redact {
  const redactKnown = secretRedactor(objects.flatMap(secretsOf))
  return (text) => redactKnown(redactText(text, patterns))
}

/**
 * A copy without credentials: values of members that are named like secrets, and texts that look like them.
 *
 * @example
 * withoutSecrets({ password: 'hunter2' }) // { password: '(sensitive)' }
 */
export function withoutSecrets(value: unknown, redact: Redact = redactText): unknown {
  if (typeof value === 'string') return withoutSettings(value, redact)
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, redact))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isSecretMember(value, name) ? concealed(member, redact) : withoutSecrets(member, redact),
    ]),
  )
}

/** Whether a path ends at a secret, such as `spec.password`, or `spec.env[name=API_TOKEN].value`. */
export function isSecretPath(path: string): boolean {
  const [, item] = /\[name=([^\]]+)\]\.value$/.exec(path) ?? []
  const [last = ''] = /[^.[\]]+\]?$/.exec(path) ?? []
  return isSecretKey(item ?? last.replace(/\]$/, ''))
}

/** Such as `password`, `value` of a variable that is named like a secret, or the value of a field that a change names. */
function isSecretMember(owner: Readonly<Record<string, unknown>>, name: string): boolean {
  if (isSecretKey(name) || name === LAST_APPLIED) return true
  if (name === 'before' || name === 'after') return typeof owner.path === 'string' && isSecretPath(owner.path)
  return name === 'value' && typeof owner.name === 'string' && isSecretKey(owner.name)
}

/** Objects under such a name are references, such as `secret: { secretName }`; lists may be either. */
function concealed(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string' || typeof value === 'number') return SENSITIVE
  if (Array.isArray(value)) return value.map((item) => concealed(item, redact))
  return withoutSecrets(value, redact)
}

/** Texts that are documents of their own are looked into. */
function withoutSettings(text: string, redact: Redact): string {
  if (/^\s*[{[]/.test(text)) {
    const value = parsed(text)
    if (value !== undefined) return JSON.stringify(withoutSecrets(value, redact))
  }
  const safe = redact(text)
  if (!safe.includes('\n')) return safe
  return safe.replaceAll(SETTING, (line, start: string, name: string) =>
    isSecretKey(name) ? `${start}${SENSITIVE}` : line,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: a text like any other.
    return undefined
  }
}

/** The values that an object keeps secret: of the data of a Secret, and of members that are named like secrets. */
function secretsOf(object: KubeObject): readonly string[] {
  if (object.kind !== 'Secret') return [...membersNamedSecret(object)]
  const { data = {}, stringData = {} } = object as KubeObject & {
    readonly data?: Readonly<Record<string, string>>
    readonly stringData?: Readonly<Record<string, string>>
  }
  return [
    ...Object.values(stringData),
    ...Object.values(data).flatMap((text) => [text, Buffer.from(text, 'base64').toString('utf8')]),
  ]
}

function* membersNamedSecret(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* membersNamedSecret(item)
    return
  }
  if (!isRecord(value)) return
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string' && isSecretMember(value, name)) yield member
    else yield* membersNamedSecret(member)
  }
}
