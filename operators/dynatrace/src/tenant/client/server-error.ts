/** Reads the error bodies of the tenant and of the platform. */

import type { OutboundResponse } from '@reeve/http'
import { headerValue } from '@reeve/http'
import { decodeJson } from '@reeve/http/decode-json'
import { Type } from 'typebox'
import type { ServerError } from './errors.ts'

const Violation = Type.Object({ path: Type.Optional(Type.String()), message: Type.Optional(Type.String()) })
const Violations = Type.Optional(Type.Array(Violation))

/** `constraintViolations` stand beside the message in the classic API and under `details` in the platform's. */
const ErrorBody = Type.Object({
  error: Type.Optional(
    Type.Object({
      code: Type.Optional(Type.Integer()),
      message: Type.Optional(Type.String()),
      constraintViolations: Violations,
      details: Type.Optional(
        Type.Object({ constraintViolations: Violations, missingScopes: Type.Optional(Type.Array(Type.String())) }),
      ),
    }),
  ),
})
const ErrorList = Type.Array(ErrorBody)

type Body = Type.Static<typeof ErrorBody>

/** What the body says, or `undefined` when it is not an error body. `clean` removes secrets from the text of the server. */
export function parseServerError(bytes: Uint8Array, clean: (text: string) => string): ServerError | undefined {
  if (Buffer.from(bytes).toString('utf8').trim() === 'null') return serverError({}, clean)
  const decoded = decodeJson(ErrorBody, bytes)
  return 'value' in decoded ? serverError(decoded.value, clean) : undefined
}

/** The same for calls that create several objects in one request and respond with one error each; the first one counts. */
export function parseServerErrorList(bytes: Uint8Array, clean: (text: string) => string): ServerError | undefined {
  const decoded = decodeJson(ErrorList, bytes)
  const first = 'value' in decoded ? decoded.value[0] : undefined
  return first === undefined ? undefined : serverError(first, clean)
}

/** For an unreadable body: who may have written it, of what type it is, and how it begins. */
export function explainUnreadable(
  { headers }: OutboundResponse,
  bytes: Uint8Array,
  clean: (text: string) => string,
): string {
  const proxy = ['x-forwarded-for', 'forwarded', 'via'].map((name) => headerValue(headers, name)).find(Boolean)
  const type = headerValue(headers, 'content-type') ?? 'unknown'
  const beginning = clean(Buffer.from(bytes).toString('utf8'))
  return `${proxy === undefined ? '' : ` (via proxy ${clean(proxy)})`}, content type ${type}: ${beginning}`
}

function serverError({ error = {} }: Body, clean: (text: string) => string): ServerError {
  const { code = 0, message = '', constraintViolations = [], details = {} } = error
  return {
    code,
    message: clean(message),
    violations: [...constraintViolations, ...(details.constraintViolations ?? [])].map((violation) => ({
      path: clean(violation.path ?? ''),
      message: clean(violation.message ?? ''),
    })),
    missingScopes: (details.missingScopes ?? []).map(clean),
  }
}
