/** Data of Secrets: Base64 on the wire, text in the code. */

/** Decoded data of a Secret. */
export type SecretData = Readonly<Record<string, string>>

/** Encodes texts for the `data` of a Secret. */
export function encodeSecret(data: SecretData): Record<string, string> {
  return mapValues(data, (text) => Buffer.from(text, 'utf8').toString('base64'))
}

/** Decodes the `data` of a Secret; an absent one is empty. */
export function decodeSecret(data: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return mapValues(data ?? {}, (text) => Buffer.from(text, 'base64').toString('utf8'))
}

function mapValues(data: Readonly<Record<string, string>>, change: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, change(text)]))
}
