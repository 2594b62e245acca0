/** Secrets that a text gives away by its form: settings, arguments and well-known tokens. */
import { REDACTED } from '@reeve/http'

/** The last word of the name of a setting, a variable or an argument whose value is a secret. */
const SECRET_WORD =
  'pass|pwd|passwd|password|passphrase|secret|token|credentials?|apikey|api[-_.]?key|access[-_.]?key|private[-_.]?key|' +
  'secret[-_.]?key|encryption[-_.]?key|signing[-_.]?key|license[-_.]?key|client[-_.]?secret|auth|authtoken|dsn|' +
  'connection[-_.]?string|cookie|session[-_.]?id|otp|pin'
/** Case is ignored in texts, so that this also matches the end of other words; too much is better than too little. */
const NAME = `[\\w.-]{0,64}(?:${SECRET_WORD})`
/** A value in quotes may contain spaces. */
const VALUE = `(?:"(?:[^"\\\\\\n]|\\\\.)*"|'[^'\\n]*'|[^\\s"',;&}\\])]+)`

const KEEP_NAME = `$1${REDACTED}`

const RULES: readonly (readonly [RegExp, string])[] = [
  // Passwords in URLs, also with characters that should have been encoded.
  [/(\/\/[^\s/:@"',]{0,256}:)[^\s"',<>]{1,1024}@/g, `${KEEP_NAME}@`],
  // `password=x`, `--token x`, `?api_key=x`, `"secret":"x"`.
  [new RegExp(`((?<![\\w.-])${NAME}["']?\\s{0,4}=\\s{0,4})${VALUE}`, 'gi'), KEEP_NAME],
  [new RegExp(`((?<![\\w.-])--?${NAME}\\s{1,4})(?!-)${VALUE}`, 'gi'), KEEP_NAME],
  [
    new RegExp(`("${NAME}\\\\{0,3}"\\s{0,4}:\\s{0,4})(?:\\\\{0,3}"(?:[^"\\\\\\n]|\\\\(?!"))*\\\\{0,3}"|\\d+)`, 'gi'),
    KEEP_NAME,
  ],
  // A line of YAML or of headers, whole; a sentence about a token has more words before it.
  [new RegExp(`(^[ \\t]{0,64}(?:- )?["']?${NAME}["']?:[ \\t]+)(?![|>{\\[])\\S.*$`, 'gim'), KEEP_NAME],
  // In a sentence only what does not look like a word.
  [new RegExp(`((?<![\\w.-])${NAME}:\\s{1,4})(?=\\S{6,})(?=\\S*\\d)(?=\\S*[a-z])[^\\s"',;]+`, 'gi'), KEEP_NAME],
  // Tokens of well-known services, and hashes of passwords.
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|glpat-[\w-]{20,255}|npm_[A-Za-z0-9]{30,255})/g, REDACTED],
  [/\bxox[abeoprs]-[\w-]{10,255}/g, REDACTED],
  [/\b(?:AIza[\w-]{30,64}|ya29\.[\w-]{20,2048}|sk-[\w-]{20,255}|sk_live_\w{16,255})/g, REDACTED],
  [/\bBasic\s+[A-Za-z0-9+/]{8,}={0,2}/g, `Basic ${REDACTED}`],
  [/\$2[aby]\$\d{2}\$[./A-Za-z0-9]{53}/g, REDACTED],
]

const SECRET_NAME = new RegExp(`(?:^|[^a-z])(?:${SECRET_WORD})$`)
const KEY_NAME = /(?:^|[^a-z])key$/

/** Whether the value of this member of an object is a secret, by its name. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(inWords(name))
}

/** The same for variables and arguments, where also a `key` is one. In objects that usually is the key of a map. */
export function isSecretVariable(name: string): boolean {
  return isSecretName(name) || KEY_NAME.test(inWords(name))
}

/** `dbPassword` and `--DB-PASSWORD` as `db_password` and `db-password`. */
function inWords(name: string): string {
  return name
    .replace(/^-+/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
}

/** The text without values that their name or form gives away. */
export function redactSettings(text: string): string {
  let safe = text
  for (const [pattern, replacement] of RULES) safe = safe.replace(pattern, replacement)
  return safe
}

/** Long enough for a secret, and no path or word: those contain separators or no digit. */
const BASE64 = /(?<![\w+/=-])(?:[A-Za-z0-9+/]{4}){5,}(?:[A-Za-z0-9+/]{2,3}={0,2})?(?![\w+/=-])/g

/** Replaces what is base64 of a text with secrets, wherever they are in it. */
export function redactEncoded(text: string, redact: (decoded: string) => string): string {
  return text.replace(BASE64, (run) => {
    const decoded = Buffer.from(run, 'base64').toString('latin1')
    // Not a text: a hash, a certificate, or a path.
    if (!/^[\t\n\r\x20-\x7e]+$/.test(decoded)) return run
    return redact(decoded) === decoded ? run : REDACTED
  })
}
