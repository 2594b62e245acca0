/** Keeps secrets out of an archive: those of the cluster's Secrets, and what looks like one. */
import { isRecord, isSecretKey, type KubeClient, REDACTED, redactText, Secrets, secretRedactor } from '@reeve/kube'
import { decodeSecret } from '../../controllers/rendering/secret-data.ts'
import { DYNATRACE_TOKENS } from '../../token-patterns.ts'

/** Keys of Secrets whose values are ordinary text: certificates and settings. Tokens in them have a known form. */
const ORDINARY_KEY = /\.(crt|pem|conf|ini|properties|ya?ml)$|certificate|^(url|endpoint|namespace)s?$/i
/** Variables whose value is a secret by their name. */
const SECRET_VARIABLE = /pass|secret|token|credential|auth|private|api_?key/i
/** Shorter lines occur in ordinary text. */
const MIN_LENGTH = 8

/** Replaces secrets in a text. */
export type Redact = (text: string) => string

/** What looks like a secret, without knowledge of the cluster. */
export const redactPatterns: Redact = (text) => redactText(text, DYNATRACE_TOKENS)

/**
 * Also replaces the values of the Secrets of a namespace, line by line because logs are read so.
 *
 * *Errors*: those of the client.
 */
export async function redactionFor(client: KubeClient, namespace: string, signal: AbortSignal): Promise<Redact> {
  const { items } = await client.listAll(Secrets, { namespace, signal, timeoutMs: 30_000 })
  const values = items.flatMap(({ data }) =>
    Object.entries(decodeSecret(data)).flatMap(([key, value]) => (ORDINARY_KEY.test(key) ? [] : secretsIn(value))),
  )
  const redactValues = secretRedactor(new Set(values))
  return (text) => redactValues(redactPatterns(text))
}

/** The lines of a value, and the passwords of a docker config. */
function secretsIn(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  return [...lines, ...textsIn(value)].filter((text) => text.length >= MIN_LENGTH && !/^-----/.test(text))
}

function textsIn(json: string): readonly string[] {
  const found: string[] = []
  const visit = (value: unknown, key: string): void => {
    if (typeof value === 'string' && (isSecretKey(key) || /^(auth|password)$/.test(key))) found.push(value)
    else if (isRecord(value) || Array.isArray(value)) {
      for (const [name, member] of Object.entries(value)) visit(member, name)
    }
  }
  try {
    visit(JSON.parse(json), '')
  } catch {
    // Not JSON: its lines are the secrets.
  }
  return found
}

/** An object without secrets, and without what only repeats it. */
export function redactObject(object: unknown, redact: Redact): unknown {
  if (typeof object === 'string') return redact(object)
  if (Array.isArray(object)) return object.map((member) => redactMember(member, redact))
  if (!isRecord(object)) return object
  const members = Object.entries(object).flatMap(([key, value]) => {
    if (key === 'managedFields' || key === 'kubectl.kubernetes.io/last-applied-configuration') return []
    if (typeof value === 'string' && isSecretKey(key)) return [[key, REDACTED]]
    return [[key, redactObject(value, redact)]]
  })
  return Object.fromEntries(members)
}

/** A variable of a container is a secret by its name, which is not the key of its value. */
function redactMember(member: unknown, redact: Redact): unknown {
  const isVariable = isRecord(member) && typeof member.name === 'string' && typeof member.value === 'string'
  if (isVariable && SECRET_VARIABLE.test(String(member.name))) return { ...member, value: REDACTED }
  return redactObject(member, redact)
}
