/** Takes known secrets out of texts that other people wrote, before they reach an error or a log. */
import { redactSecrets } from './redact-text.ts'

/** Secrets kept at most; the oldest is forgotten first. Access tokens change every few minutes for years. */
const MAX_SECRETS = 64

/**
 * Knows the secrets of one client. A server, or a proxy in between, may echo what it was sent; its messages go through
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

  /** Registers a secret. */
  add(secret: string | undefined): void {
    if (secret === undefined) return
    this.#secrets.delete(secret)
    this.#secrets.add(secret)
    const [oldest] = this.#secrets
    if (oldest !== undefined && this.#secrets.size > MAX_SECRETS) this.#secrets.delete(oldest)
  }

  /** The text without any of the secrets. */
  clean(text: string): string {
    return redactSecrets(text, this.#secrets)
  }
}
