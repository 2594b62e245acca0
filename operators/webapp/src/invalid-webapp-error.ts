/** A WebApp that slipped past the webhook, or was stored before a rule existed. */
import type { Problem } from '@reeve/crd'
import { TerminalError } from '@reeve/runtime'

/** No retry helps, only an edit: the message lists every field and its remedy, and goes into the status. */
export class InvalidWebAppError extends TerminalError {
  override readonly code = 'INVALID_SPEC'

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ field, message }) => `${field}: ${message}`).join('; '))
  }
}
