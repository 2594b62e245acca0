/** Takes known secrets out of texts that other people wrote, before they reach an error or a log. */

/** Stands where a secret was. */
const REDACTED = '[redacted]'

/** Shorter values would tear ordinary words apart, and are no secrets worth the name. */
const MIN_SECRET_LENGTH = 4

/** Secrets kept at most; the oldest is forgotten first. Access tokens change every few minutes for years. */
const MAX_SECRETS = 64

/**
 * Knows the secrets of one client. A server, or a proxy in between, may echo what it was sent; its words go through
 * here first.
 *
 * @example
 * const filter = new SecretFilter('dt0c01.ABC.DEF')
 * filter.clean('unknown token dt0c01.ABC.DEF') // 'unknown token [redacted]'
 */
export class SecretFilter {
  readonly #secrets = new Set<string>()

  constructor(...secrets: readonly (string | undefined)[]) {
    for (const secret of secrets) this.add(secret)
  }

  /** Remembers a secret, and the forms in which it travels: base64 and percent-encoded. */
  add(secret: string | undefined): void {
    if (secret === undefined || secret.length < MIN_SECRET_LENGTH) return
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]) {
      this.#secrets.delete(form)
      this.#secrets.add(form)
    }
    for (const oldest of this.#secrets) {
      if (this.#secrets.size <= MAX_SECRETS) break
      this.#secrets.delete(oldest)
    }
  }

  /** The text without any of the secrets. */
  clean(text: string): string {
    let safe = text
    // Longest first: a secret may contain another one, such as the public part of a token.
    for (const secret of [...this.#secrets].toSorted((a, b) => b.length - a.length)) {
      safe = safe.replaceAll(secret, REDACTED)
    }
    return safe
  }
}
