/** Keeps secrets out of an archive: those of the cluster's Secrets, and what looks like one. */
import { gunzipSync } from 'node:zlib'
import { isRecord, isSecretKey, REDACTED, redactText, secretRedactor } from '@reeve/http'
import { type KubeClient, type Secret, Secrets } from '@reeve/kube'
import { decodeSecret } from '../../controllers/rendering/secret-data.ts'
import { DYNATRACE_TOKENS } from '../../token-patterns.ts'
import { isSecretName, isSecretVariable, redactEncoded, redactSettings } from './secret-text.ts'

/** Keys of Secrets whose values are ordinary text: certificates and settings. Only settings with a secret name count. */
const ORDINARY_KEY = /\.(crt|pem|conf|ini|properties|ya?ml)$|certificate|^(url|endpoint|namespace)s?$/i
/** Shorter lines occur in ordinary text. */
const MIN_LENGTH = 8
/** The same for values whose name says that they are secret. */
const MIN_NAMED_LENGTH = 5
/** Where Helm stores a release, with the values of its user: compressed, and so large that it is never searched for. */
const HELM_RELEASE = 'helm.sh/release.v1'
const MAX_RELEASE_BYTES = 16 * 1024 * 1024

/** Replaces secrets in a text. */
export type Redact = (text: string) => string

/** What looks like a secret, without knowledge of the cluster. */
export const redactPatterns: Redact = withEncoded((text) => redactSettings(redactText(text, DYNATRACE_TOKENS)))

/**
 * Also replaces the values of the Secrets of a namespace, line by line because logs are read so.
 *
 * *Errors*: those of the client.
 */
export async function redactionFor(client: KubeClient, namespace: string, signal: AbortSignal): Promise<Redact> {
  const { items } = await client.listAll(Secrets, { namespace, signal, timeoutMs: 30_000 })
  const redactValues = secretRedactor(new Set(items.flatMap(secretsOf)))
  return withEncoded((text) => redactSettings(redactText(redactValues(text), DYNATRACE_TOKENS)))
}

function withEncoded(redact: Redact): Redact {
  return (text) => redactEncoded(redact(text), redact)
}

function secretsOf({ type, data }: Secret): readonly string[] {
  const entries = Object.entries(decodeSecret(data))
  if (type === HELM_RELEASE) return entries.flatMap(([, value]) => releaseSecrets(value))
  return entries.flatMap(([key, value]) => {
    if (ORDINARY_KEY.test(key)) return settingsIn(value)
    const minLength = isSecretVariable(key) ? MIN_NAMED_LENGTH : MIN_LENGTH
    return [...linesOf(value, minLength), ...textsIn(value), ...settingsIn(value)]
  })
}

function linesOf(value: string, minLength: number): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  return lines.filter((line) => line.length >= minLength && !/^-----/.test(line))
}

/** Values of `name: value` and `name=value` whose name says that they are secret. */
function settingsIn(text: string): readonly string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, name = '', value = ''] = /^\s*(?:- )?["']?([\w.-]+)["']?\s*[:=]\s*(.+?)\s*$/.exec(line) ?? []
    const plain = value.replace(/^(["'])(.*)\1$/, '$2')
    return isSecretVariable(name) && plain.length >= MIN_NAMED_LENGTH ? [plain] : []
  })
}

/** The values that a user gave to Helm: JSON, compressed, in base64. */
function releaseSecrets(release: string): readonly string[] {
  try {
    const json = gunzipSync(Buffer.from(release, 'base64'), { maxOutputLength: MAX_RELEASE_BYTES }).toString()
    const { config } = JSON.parse(json)
    return textsIn(JSON.stringify(config ?? {}))
  } catch {
    // Not a release of Helm in spite of its type: nothing of it is collected either.
    return []
  }
}

/** The texts of a JSON document whose name says that they are secret, such as the passwords of a docker config. */
function textsIn(json: string): readonly string[] {
  const found: string[] = []
  const visit = (value: unknown, key: string): void => {
    if (typeof value === 'string' && isSecretVariable(key) && value.length >= MIN_NAMED_LENGTH) found.push(value)
    else if (isRecord(value) || Array.isArray(value)) {
      for (const [name, member] of Object.entries(value)) visit(member, Array.isArray(value) ? key : name)
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
  if (Array.isArray(object)) return object.map((member, index) => redactMember(member, object[index - 1], redact))
  if (!isRecord(object)) return object
  const members = Object.entries(object).flatMap(([key, value]) => {
    if (key === 'managedFields' || key === 'kubectl.kubernetes.io/last-applied-configuration') return []
    if (key === 'binaryData' && isRecord(value)) return [[key, withoutContent(value)]]
    if (typeof value === 'string' && (isSecretKey(key) || isSecretName(key))) return [[redact(key), REDACTED]]
    return [[redact(key), redactObject(value, redact)]]
  })
  return Object.fromEntries(members)
}

/** What is in binary data cannot be searched: it may be compressed. */
function withoutContent(binaryData: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.keys(binaryData).map((key) => [key, REDACTED]))
}

/** A variable is a secret by its name, which is not the key of its value, and an argument by the one before it. */
function redactMember(member: unknown, before: unknown, redact: Redact): unknown {
  const isVariable = isRecord(member) && typeof member.name === 'string' && typeof member.value === 'string'
  if (isVariable && isSecretVariable(String(member.name))) return { ...member, value: REDACTED }
  const isArgument = typeof member === 'string' && typeof before === 'string' && /^--?[\w.-]+$/.test(before)
  if (isArgument && isSecretVariable(before) && !member.startsWith('-')) return REDACTED
  return redactObject(member, redact)
}
